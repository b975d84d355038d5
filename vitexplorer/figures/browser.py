"""Chrome or Chromium that turns a figure into PNG, SVG or PDF. It starts with the first picture and then stays.

A start takes seconds and a picture a fraction of one, so the browser stays in a thread of its own until the process
ends. Kaleido's own server does the same, but it mixes up the answers when two threads save at once, and it waits for
ever if the browser does not start. The sandbox is off, as in kaleido: it does not work for root or in most containers,
and the only page opened is our own. MathJax is off because it would be fetched from the network.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import subprocess
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import Literal

import plotly.graph_objects as go

from vitexplorer.core.text import ExplainedError, Text

PRINTING = 60_000  # milliseconds of the page's virtual time, far more than its figures need
SECONDS = 120  # limit for one picture, including a cold start on a busy machine

MISSING = Text(
    "Saving a picture needs {what}. Saving as .csv or .json works without.",
    "保存图片需要{what}。保存为 .csv 或 .json 不需要它。",
)
CHROME = Text(
    "Chrome or Chromium, and none was found: install it (for example `apt install chromium`, or `plotly_get_chrome`) "
    "or point BROWSER_PATH to it",
    " Chrome 或 Chromium，但未找到：请安装（例如 `apt install chromium` 或 `plotly_get_chrome`），"
    "或用 BROWSER_PATH 指明其路径",
)
KALEIDO = Text("the package kaleido: `pip install kaleido`", "软件包 kaleido：`pip install kaleido`")


class PictureError(ExplainedError):
    """Raised if a picture could not be made; the message says what to install or do."""


class _Browser:
    """Kaleido on an event loop in a thread of its own."""

    def __init__(self):
        """Start the browser. Raises PictureError."""
        try:
            import kaleido
            from kaleido.errors import ChromeNotFoundError
        except ImportError:
            raise PictureError(MISSING.format(what=KALEIDO)) from None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="figure-browser", daemon=True)
        self._thread.start()
        try:
            self._kaleido = self._wait(self._open(kaleido.Kaleido))
        except ChromeNotFoundError:
            self._stop()
            raise PictureError(MISSING.format(what=CHROME)) from None
        except BaseException:
            self._stop()
            raise

    @staticmethod
    async def _open(kaleido_class):
        browser = kaleido_class(mathjax=False, timeout=SECONDS)  # needs the running loop
        await browser.open()
        return browser

    def _wait(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(SECONDS)

    @staticmethod
    async def _cancel_the_rest() -> None:
        rest = asyncio.all_tasks() - {asyncio.current_task()}  # kaleido's watchdog, after a crash of the browser
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    def _stop(self) -> None:
        with suppress(TimeoutError):
            self._wait(self._cancel_the_rest())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def picture(self, figure: go.Figure, form: str, scale: float) -> bytes:
        """Return the figure as a file of the given form."""
        return self._wait(self._kaleido.calc_fig(figure, opts={"format": form, "scale": scale}))

    def close(self) -> None:
        """End the browser and the thread."""
        try:
            self._wait(self._kaleido.close())
        finally:
            self._stop()


_lock = threading.Lock()
_browser: _Browser | None = None


def picture(figure: go.Figure, form: Literal["png", "svg", "pdf"], scale: float = 1) -> bytes:
    """Return a figure that has a width and a height as the bytes of a file; safe to call from several threads.

    `scale` is the pixels of a PNG for each pixel of the figure.

    Raises:
        PictureError: no browser, no kaleido, or the browser failed twice.
    """
    global _browser
    with _lock:
        for attempt in (1, 2):
            try:
                if _browser is None:
                    _browser = _Browser()
                    atexit.register(close)  # only now: it must run before kaleido's temporary folders clean up
                return _browser.picture(figure, form, scale)
            except PictureError:
                raise
            except Exception as error:
                close()
                if attempt == 2:
                    raise PictureError(
                        Text(
                            "The browser did not draw the picture, twice. Saving as .csv or .json works without it.",
                            "浏览器两次都未能生成图片。保存为 .csv 或 .json 不需要浏览器。",
                        )
                    ) from error
    raise AssertionError("unreachable")


def printed_page(page: str) -> bytes:
    """Print a self-contained page as PDF, as the browser's print dialog would. Raises PictureError."""
    try:
        from choreographer.browsers.chromium import Chromium
    except ImportError:
        raise PictureError(MISSING.format(what=KALEIDO)) from None
    chrome = Chromium.find_browser(skip_local=False)
    if not chrome:
        raise PictureError(MISSING.format(what=CHROME))
    with tempfile.TemporaryDirectory() as folder:
        source, pdf = Path(folder, "page.html"), Path(folder, "page.pdf")
        source.write_text(page, encoding="utf-8")
        command = [chrome, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile"]
        command += [f"--print-to-pdf={pdf}", "--no-pdf-header-footer", f"--virtual-time-budget={PRINTING}"]
        try:
            subprocess.run([*command, source.as_uri()], check=True, capture_output=True, timeout=SECONDS)
            return pdf.read_bytes()
        except (subprocess.SubprocessError, OSError) as error:
            raise PictureError(
                Text(
                    "The browser did not print the page. Saving as .html works without it.",
                    "浏览器未能打印该页面。保存为 .html 不需要浏览器。",
                )
            ) from error


def close() -> None:
    """End the browser, if it runs; the next picture starts another."""
    global _browser
    browser, _browser = _browser, None
    if browser is not None:
        atexit.unregister(close)
        with suppress(Exception):  # the browser may have crashed
            browser.close()


def _forget() -> None:
    """Forget the browser in a forked child, which has no thread to wait for."""
    global _browser, _lock
    _browser, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
