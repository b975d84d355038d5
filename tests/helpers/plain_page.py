"""Components of the page without gradio around them, for tests of what they do in the browser.

A page of gradio is seconds of work to open, this one a tenth of a second: gradio's style sheet and theme, our own head
with its modules, and components that are mounted as gradio does it. What they ask is answered by a function of the
test. That they also work within gradio is seen on the walks through the running app. The policy of these pages forbids
to make functions of text, which gradio alone needs.
"""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gradio as gr
import uvicorn
from playwright.sync_api import Page
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from vitexplorer.ui.canvas.files import BLOCKS
from vitexplorer.ui.kit.language import LanguageMiddleware
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.server.headers import page_policy
from vitexplorer.ui.server.static_files import SERVING, page_head
from vitexplorer.ui.shell.theme import theme

FRONTEND = Path(gr.__file__).parent / "templates" / "frontend"
KEPT = {"cache-control": "public, max-age=31536000, immutable"}

Answer = Callable[[str, str, dict[str, Any]], Mapping[str, BaseModel]]
"""Called with a component's id, the event and its data; gives new values by id."""


def no_answer(component: str, event: str, data: dict[str, Any]) -> Mapping[str, BaseModel]:
    """Nothing changes."""
    return {}


def sent(value: BaseModel | None) -> Any:
    """A value as the browser gets it."""
    return value.model_dump() if value else None


class PlainPage:
    """A tab of the browser that shows components, one set after the other."""

    def __init__(self, page: Page, address: str):
        """Args: page: the tab; address: of `plain_pages`."""
        self.page, self.address = page, address
        self._answer = no_answer
        page.expose_function("askPython", self._asked)

    def open(self, *shown: tuple[str, type[Widget] | Widget, BaseModel | None], answer: Answer = no_answer) -> None:
        """A page with nothing but these: id, component and value of each."""
        self._answer = answer
        self.page.goto(self.address)
        parts = [[name, widget.module_path(), widget.sends, sent(value)] for name, widget, value in shown]
        self.page.evaluate("(parts) => Promise.all(parts.map((part) => add(...part)))", parts)

    def fall_silent(self) -> None:
        """Answer nothing any more, until another page is opened."""
        self._answer = no_answer

    def send(self, name: str, value: BaseModel | None) -> None:
        """A new value."""
        self.page.evaluate("([name, value]) => show(name, value)", [name, sent(value)])

    def _asked(self, component: str, event: str, data: dict[str, Any]) -> dict[str, Any]:
        return {name: sent(value) for name, value in self._answer(component, event, data).items()}


@contextmanager
def plain_pages() -> Iterator[str]:
    """The address of a server in this process, on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        server = uvicorn.Server(uvicorn.Config(_app(), log_level="error"))
        thread = threading.Thread(target=server.run, args=([door],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{door.getsockname()[1]}/"
        finally:
            server.should_exit = True
            thread.join()


def _app() -> Starlette:
    page, style = _page(), theme()._get_theme_css()

    def blank(request: Request) -> Response:
        return HTMLResponse(page)

    def theme_css(request: Request) -> Response:
        return Response(style, media_type="text/css", headers=KEPT)

    routes = [
        Route("/", blank),
        Route("/theme.css", theme_css),
        Mount("/gradio", StaticFiles(directory=FRONTEND)),
        Mount("/static", StaticFiles(directory=FRONTEND / "static")),  # where the theme has its fonts
    ]
    written = Middleware(LanguageMiddleware, head=page_head, policy=_without_eval)
    return Starlette(routes=[*routes, BLOCKS, *SERVING["routes"]], middleware=[written])


def _without_eval(page: str) -> str:
    policy = page_policy(page, "'self'")
    assert "'unsafe-eval' " in policy
    return policy.replace("'unsafe-eval' ", "")


def _page() -> str:
    sheet = re.search(r'href="\./(assets/index-[\w-]+\.css)"', (FRONTEND / "index.html").read_text(encoding="utf-8"))[1]
    page = Path(__file__).with_suffix(".html").read_text(encoding="utf-8")
    return page.replace("{{sheet}}", sheet).replace("{{version}}", gr.__version__.replace(".", "-"))
