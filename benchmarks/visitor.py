"""Processor seconds of the server for one visitor's path, step by step.

    python -m benchmarks.visitor [visitors]

Visitors come one after the other, each with a new browser profile and a new picture, so that only the models stay in
memory between them: they open the page, upload, look at three blocks, choose another model and request a relevance map.
A first visitor, who is not counted, loads the models. Prints the median of each step and of the whole (target: a third
of 1.7 s), each measured until the server is idle, without what gradio's queue takes to look for events all the time.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import PIL.Image
import psutil
from playwright.sync_api import Page

from tests.helpers.app import Visit, browser, running_app
from tests.helpers.room_checks import choose_view, go_to, wait_for_own_picture

STEPS = ("open", "upload", "three blocks", "another model", "relevance")
BLOCK = "document.querySelector('#vx-attention-canvas .vx-canvas').dataset"


class Clock:
    """Processor seconds of the server, without those that it takes at rest."""

    def __init__(self, server: psutil.Process):
        """Measure a server at rest; it has just started, so wait for the last imports."""
        self._server = server
        time.sleep(20)
        self._at_rest = min(self._share() for _ in range(6))

    def read(self) -> float:
        """Wait until the server is at rest and return the seconds so far."""
        while self._share() > self._at_rest + 0.04:
            pass
        return self._seconds() - self._at_rest * time.monotonic()

    def _share(self) -> float:
        before = self._seconds()
        time.sleep(0.5)
        return (self._seconds() - before) / 0.5

    def _seconds(self) -> float:
        return sum(self._server.cpu_times()[:2])


def upload(page: Page, picture: Path) -> None:
    page.locator("#vx-image .file").set_input_files(picture)
    page.wait_for_function("() => new URLSearchParams(location.search).get('image')?.startsWith('upload-')")
    wait_for_own_picture(page, "attention")


def three_blocks(page: Page) -> None:
    for _ in range(3):
        block = page.evaluate(f"{BLOCK}.block")
        page.locator("#vx-attention-canvas .blocks .before").click()
        page.wait_for_function(f"() => {BLOCK}.block !== '{block}' && {BLOCK}.part === 'whole'")


def another_model(page: Page) -> None:
    page.locator("#vx-model .chip").click()
    page.keyboard.type("scenes_vit_patch16_192")
    page.keyboard.press("Enter")
    page.wait_for_selector('.vx-status[data-text^="scenes_vit_patch16_192"][data-kind="ready"]')
    wait_for_own_picture(page, "attention")


def relevance(page: Page) -> None:
    go_to(page, "flow")
    choose_view(page, "flow", "generic_relevance")


def path(visit: Visit, url: str, picture: Path, clock: Clock) -> list[float]:
    """Walk one path; return the server's processor seconds for each step."""
    acts: list[Callable[[], None]] = [
        lambda: visit.open(url),
        lambda: upload(visit.page, picture),
        lambda: three_blocks(visit.page),
        lambda: another_model(visit.page),
        lambda: relevance(visit.page),
    ]
    seconds = [clock.read()]
    for act in acts:
        act()
        seconds.append(clock.read())
    return list(np.diff(seconds))


def main(visitors: int = 5) -> None:
    """Print the median of each step, and of the whole."""
    paths = []
    with running_app() as url, browser() as chromium, tempfile.TemporaryDirectory() as folder:
        (server,) = (child for child in psutil.Process().children() if "app.py" in child.cmdline())
        clock = Clock(server)
        for i in range(visitors + 1):
            picture = Path(folder) / f"{i}.png"
            noise = np.random.default_rng(i).integers(0, 255, (300, 400, 3), dtype=np.uint8)
            PIL.Image.fromarray(noise).save(picture)
            visit = Visit(chromium)
            paths.append(path(visit, url, picture, clock))
            visit.close()
    counted = paths[1:]
    for i, step in enumerate(STEPS):
        print(f"{step:14} {statistics.median(seconds[i] for seconds in counted):5.2f} s")
    print(f"{'the whole':14} {statistics.median(map(sum, counted)):5.2f} s (0.57)")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
