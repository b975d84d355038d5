"""The running app and a browser, for tests of a person's path through the page."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    Response,
    ViewportSize,
    expect,
    sync_playwright,
)

from tests.helpers.tree import ROOT

if TYPE_CHECKING:
    import gradio as gr

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PLACES = [Path("/usr/bin") / name for name in ("chromium", "chromium-browser", "google-chrome")]


CUT_OFF = re.compile("signal is aborted|Connection errored out")
"""gradio's messages about requests whose page was left before the answer"""
ENDED = """() => { const {dataset, innerText} = document.querySelector('.vx-status') ?? {dataset: {}};
  return ['ready', 'error'].includes(dataset.kind) && [dataset.kind, innerText]; }"""
"""Script that reads the kind and the text of the status line at one moment; the next may be busy again"""
FORBIDDEN = """addEventListener('securitypolicyviolation', ({violatedDirective, blockedURI, sample}) =>
  console.error('Content-Security-Policy:', violatedDirective, blockedURI, sample));"""
"""says what the page's own policy has kept a script, style, picture or question from"""


PATIENCE = 60_000
"""Timeout of every wait for a page, in milliseconds: a busy machine is slow and not wrong"""
expect.set_options(timeout=PATIENCE)


@contextmanager
def running_app(
    command: Sequence[str | Path] = (sys.executable, "app.py"), folder: Path = ROOT, **settings: str
) -> Iterator[str]:
    """`python app.py`, or another command, on a free port as a person starts it; gives the address it prints."""
    environment = {**os.environ, "VIT_PORT": "0", "PYTHONUNBUFFERED": "1", **settings}
    environment.setdefault("VIT_FIRST_SHARPENS", "0")  # what a test reads changes by its own acts alone
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        watchdog = threading.Timer(120, process.kill)
        watchdog.start()
        try:
            address = address_of(process)
            watchdog.cancel()
            yield address
        finally:
            watchdog.cancel()
            process.terminate()


printed: deque[str] = deque(maxlen=100)
"""last lines of the app that runs"""


def address_of(process: subprocess.Popen) -> str:
    """Return the address that the app prints; `printed` keeps the end of what it prints later."""
    printed.clear()
    for line in process.stdout:
        printed.append(line)
        if line.startswith("ViT Explorer: "):
            threading.Thread(target=printed.extend, args=[process.stdout], daemon=True).start()
            return line.removeprefix("ViT Explorer: ").strip()
    raise RuntimeError("The app did not start:\n" + "".join(printed))


@contextmanager
def browser() -> Iterator[Browser]:
    """Debian's or Chrome's own Chromium, headless."""
    found = next(place for place in PLACES if place.exists())
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield launched
        launched.close()


@contextmanager
def served(blocks: gr.Blocks, **options: Any) -> Iterator[str]:
    """A page of this process on a free port; gives its address."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    quiet = {"prevent_thread_lock": True, "quiet": True, "ssr_mode": False, "run_history": False}
    _, address, _ = blocks.launch(server_name="127.0.0.1", server_port=port, **quiet, **options)
    try:
        yield address
    finally:
        blocks.close()


class Steps:
    """An asynchronous generator in the hands of a test: its loop runs while the test asks for the next."""

    def __init__(self, steps: AsyncGenerator[Any, None]):
        self._steps, self._loop, self._thread = steps, asyncio.new_event_loop(), ThreadPoolExecutor(1)

    def __iter__(self) -> Steps:
        return self

    def __next__(self) -> Any:
        try:
            return self._run(anext(self._steps))
        except StopAsyncIteration:
            self.close()
            raise StopIteration from None
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """As gradio does where a page was left."""
        self._run(self._steps.aclose())
        self._loop.close()

    def _run(self, coroutine: Awaitable[Any]) -> Any:
        return self._thread.submit(lambda: self._loop.run_until_complete(coroutine)).result()


def hear(context: BrowserContext, errors: list[str]) -> None:
    """Keep what the pages of a context complain about.

    That is mistakes and refused promises nobody caught, questions that fail or are refused, what the
    Content-Security-Policy forbids, and what scripts warn of: mistakes that they outlive.
    """

    def console(message: ConsoleMessage) -> None:
        written = message.type == "warning" and message.args  # by a script: the browser's own hints are no mistakes
        if message.type == "error" or written:
            errors.append(f"{message.text} ({message.location['url']})")

    context.add_init_script(FORBIDDEN)
    context.on("console", console)
    context.on("weberror", lambda wrong: errors.append(str(wrong.error)))


class Visit:
    """One page, with everything it complained about and every address it asked."""

    def __init__(self, browser: Browser, width: int = 1440, height: int = 900, *, has_touch: bool = False):
        self._size: ViewportSize = {"width": width, "height": height}
        self.context = browser.new_context(
            viewport=self._size, accept_downloads=True, reduced_motion="reduce", has_touch=has_touch
        )
        self.context.set_default_timeout(PATIENCE)
        self.url = ""
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._refused = 0
        hear(self.context, self.errors)
        self.context.on("request", self._request)
        self.context.on("response", self._response)
        self.page: Page = self.context.new_page()
        self.page.on("domcontentloaded", self._left)

    def _request(self, request: Request) -> None:
        self.requests.append(request.url)

    def _response(self, response: Response) -> None:
        self._refused += response.status == 422

    def forgive(self) -> int:
        """Clear what the console says of refused requests, once it has said it of each; return their number."""
        end = time.monotonic() + PATIENCE / 1000
        while sum("422" in error for error in self.errors) < self._refused:
            assert time.monotonic() < end, self.errors
            self.page.wait_for_timeout(10)
        self.errors[:] = [error for error in self.errors if "422" not in error]
        count, self._refused = self._refused, 0
        return count

    def _left(self, _: Page) -> None:
        self.errors[:] = [error for error in self.errors if not CUT_OFF.search(error)]

    def open(self, url: str, **parameters: str) -> None:
        """Go to the page with these URL parameters and wait for its first result."""
        self.url = url
        query = "&".join(f"{name}={value}" for name, value in parameters.items())
        self.page.goto(f"{url}?{query}")
        self.wait_ready()

    def wait_ready(self) -> None:
        """Until a capture is on the screen; fails with the page's own words where there is an error instead."""
        kind, text = self.page.wait_for_function(ENDED, timeout=90_000).json_value()
        assert kind == "ready", text

    def close(self) -> None:
        """Close the window; nothing may have gone wrong in it."""
        self.context.close()
        self._check()

    def leave(self) -> None:
        """Leave the window to the next visitor as a new one, with gradio's scripts compiled; check as `close` does."""
        self.page.unroute_all(behavior="ignoreErrors")
        if self.url:
            blank = f"{self.url}blank"
            self.page.route(blank, lambda asked: asked.fulfill(body=""))
            self.page.goto(blank)
            self.page.evaluate("localStorage.clear()")
            self.page.unroute(blank)
        self.context.clear_cookies()
        self.page.set_viewport_size(self._size)
        self.page.emulate_media(reduced_motion="reduce")
        self.page.mouse.move(0, 0)
        self._check()
        self._refused = 0
        self.url = ""
        self.requests.clear()

    def _check(self) -> None:
        """Raise an AssertionError if anything went wrong on the page, or left the machine."""
        assert self.errors == [], "\n".join([*self.errors, "The app printed:", *printed])
        assert [address for address in self.requests if not address.startswith((self.url, "data:", "blob:"))] == []


Visiting = Callable[[], AbstractContextManager[Visit]]
"""Opens a page for a new visitor"""
