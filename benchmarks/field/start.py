"""Time from the start of a process to its first answer: our page and an empty one of gradio, imports, the command line.

Every way starts a process of its own, and its time is wall time. The page is opened in a browser that is already
running; the first map is that of the bundled model that the page opens with.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from playwright.sync_api import Browser

from benchmarks.field.bench import OURS, ROOT, Bench
from benchmarks.field.tables import Table
from benchmarks.field.timing import Timing, Work, interleaved
from tests.helpers.app import browser

ROUNDS = 5
EMPTY, PAGE, MAP = "an empty gr.Blocks", "python app.py", "python app.py, to the first map"
IMPORTS, LIBRARY = "import gradio, torch, timm", "import vitexplorer"
HELP, TYPER = "vitexplorer --help", "import typer"
BLOCKS = """
import os, gradio
with gradio.Blocks(analytics_enabled=False) as page: pass
page.launch(server_port=int(os.environ["VIT_PORT"]), quiet=True, ssr_mode=False)
"""
CODE = {
    IMPORTS: ["-c", "import gradio, torch, timm"],
    LIBRARY: ["-c", "import vitexplorer"],
    HELP: ["-m", "vitexplorer", "--help"],
    TYPER: ["-c", "import typer"],
}
FIRST_MAP = "document.querySelector('#vx-attention-canvas .vx-canvas')?.dataset.part"
EXPLANATION = (
    "Wall time from the start of a process to its first HTTP answer, to the first map in a browser, or to its end. The "
    "page answers before torch and timm are imported, without which there is no map: to import gradio, torch and timm "
    "alone takes {imports:.2f} of an empty page's start, and the first map is there after {map:.2f}. More than a third "
    "of what torch and timm take is `torch._dynamo`, which torchvision imports for `roi_align`. Most of the help is "
    "imports too: typer, rich, and pydantic-settings, which reads the language from the environment."
)


def tables(bench: Bench) -> list[Table]:
    """Return the times as multiples of an empty page's."""
    rounds = 1 if bench.quick else min(ROUNDS, bench.rounds)
    found = bench.cell("times", dict[str, Timing], partial(_times, rounds), OURS)
    paragraph = EXPLANATION.format(imports=found[IMPORTS].median, map=found[MAP].median)
    rows = tuple((way, timing) for way, timing in found.items())
    return [Table("start", "From the start to the first answer", ("process", "time"), rows, (paragraph,))]


def _times(rounds: int) -> dict[str, Timing]:
    with browser() as chromium:
        ways: dict[str, Work] = {
            EMPTY: lambda: _answer(["-c", BLOCKS]),
            PAGE: lambda: _answer(["app.py"]),
            MAP: lambda: _first_map(chromium),
        }
        ways |= {way: partial(_ended, code) for way, code in CODE.items()}
        return interleaved(ways, rounds, warmup=1, limit_s=600, clock=time.perf_counter)


def _ended(code: list[str]) -> None:
    subprocess.run([sys.executable, *code], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)


def _answer(code: list[str]) -> None:
    with _server(code):
        pass


def _first_map(chromium: Browser) -> None:
    with _server(["app.py"]) as url, chromium.new_context(viewport={"width": 1440, "height": 900}) as context:
        page = context.new_page()
        page.set_default_timeout(90_000)
        page.goto(f"{url}?room=attention")
        page.wait_for_function(FIRST_MAP)


@contextmanager
def _server(code: list[str]) -> Iterator[str]:
    """Start a server, wait for its first answer, and kill it in the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}/"
    environment = {**os.environ, "VIT_PORT": str(port), "GRADIO_ANALYTICS_ENABLED": "False"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([sys.executable, *code], cwd=ROOT, env=environment, **quiet)
    try:
        while not _answers(url):
            if process.poll() is not None:
                raise RuntimeError(f"{code} ended with {process.returncode} before it answered.")
            time.sleep(0.02)
        yield url
    finally:
        process.kill()
        process.wait()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.read())
    except OSError:  # not yet there, or slow to answer
        return False
