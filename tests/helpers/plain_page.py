"""Components of the page without gradio, for tests of their behaviour in the browser.

A gradio page takes seconds to open, this one a tenth of a second: gradio's style sheet and theme, our own head with its
modules, and components mounted as by gradio. A function of the test answers their events. Tests of the running app
check them within gradio. The policy of these pages forbids `eval`, which only gradio needs.
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
CACHED = {"cache-control": "public, max-age=31536000, immutable"}

Answer = Callable[[str, str, dict[str, Any]], Mapping[str, BaseModel]]
"""Called with a component's id, the event and its data; gives new values by id."""


def no_answer(component: str, event: str, data: dict[str, Any]) -> Mapping[str, BaseModel]:
    """Change nothing."""
    return {}


def sent(value: BaseModel | None) -> Any:
    """Return a value as the browser gets it."""
    return value.model_dump() if value else None


class PlainPage:
    """Browser tab that shows components, one set after the other."""

    def __init__(self, page: Page, address: str):
        """Use the tab `page`; `address` is that of `plain_pages`."""
        self.page, self.address = page, address
        self._answer = no_answer
        page.expose_function("askPython", self._asked)

    def open(
        self, *components: tuple[str, type[Widget] | Widget, BaseModel | None], answer: Answer = no_answer
    ) -> None:
        """Open a page with only these components, each given as id, component and value."""
        self._answer = answer
        self.page.goto(self.address)
        parts = [[name, widget.module_path(), widget.sends, sent(value)] for name, widget, value in components]
        self.page.evaluate("(parts) => Promise.all(parts.map((part) => add(...part)))", parts)

    def fall_silent(self) -> None:
        """Stop answering events until another page is opened."""
        self._answer = no_answer

    def send(self, name: str, value: BaseModel | None) -> None:
        """Send a component a new value."""
        self.page.evaluate("([name, value]) => show(name, value)", [name, sent(value)])

    def _asked(self, component: str, event: str, data: dict[str, Any]) -> dict[str, Any]:
        return {name: sent(value) for name, value in self._answer(component, event, data).items()}


@contextmanager
def plain_pages() -> Iterator[str]:
    """Serve plain pages from this process on a free port and yield the address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(_app(), log_level="error"))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        finally:
            server.should_exit = True
            thread.join()


def _app() -> Starlette:
    page, style = _page(), theme()._get_theme_css()

    def blank(request: Request) -> Response:
        return HTMLResponse(page)

    def theme_css(request: Request) -> Response:
        return Response(style, media_type="text/css", headers=CACHED)

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
