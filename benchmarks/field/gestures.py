"""Gestures of a person on a page of attention maps, timed until the answer is on the screen.

Two pages support the same gestures: ours, and `twin.py`. A gesture is timed inside the page, from the browser's event
to the first frame that shows the answer.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Locator, Page

from benchmarks.field.twin import MODELS

TIMEOUT_MS = 90_000
"""Longest wait for an answer"""
GRID = 14
"""Patches in a row of the maps"""
RUN = ("upload", "model", "size")
"""Gestures that run the model"""
PAUSE = 400
"""Milliseconds between gestures, in which prefetched data arrive"""
RATE = 10e6 / 8
"""Most bytes a second that a page receives from afar"""
REST = 150
"""Milliseconds that a person's pointer stands on a tile before it is clicked"""
ARM = """([kind, parts, patience]) => { window.timed = new Promise((resolve, reject) => {
  setTimeout(() => reject(new Error(`no answer: ${Object.values(parts)}`)), patience);
  const tests = Object.entries(parts).map(([name, test]) => [name, new Function(`return ${test}`)]), times = {};
  let start = null;
  addEventListener(kind, ({timeStamp}) => { start = timeStamp; }, {capture: true, once: true});
  const frames = new MessageChannel(), wait = () => requestAnimationFrame(() => frames.port2.postMessage(0));
  frames.port1.onmessage = () => {
    const now = performance.now();
    for (const [name, test] of tests) if (start !== null && !(name in times) && test()) times[name] = now - start;
    if (Object.keys(times).length === tests.length) resolve(times); else wait();
  };
  wait();
}); }"""
"""Script that returns the milliseconds from the next event of a kind to the frame in which each test holds"""


@dataclass
class Sample:
    """Measurements of one gesture."""

    milliseconds: float
    model: float
    """Milliseconds of the model's pass"""
    requests: int
    received: int
    """Bytes of answers with their headers: when opening, until the first map; otherwise with what is fetched ahead"""
    gradios: int
    """Requests for gradio's own scripts and style sheets"""


class Walk(ABC):
    """One visitor's walk through a page opened in a new profile; `samples` holds the gestures by name."""

    def __init__(self, browser: Browser, url: str, delay: float):
        """Open the page.

        Args:
            browser: a new profile is made in it.
            url: address of the page.
            delay: latency of every request in milliseconds, added by Chromium; with one, it also receives no more than
                `RATE`.
        """
        self.context: BrowserContext = browser.new_context(viewport={"width": 1440, "height": 900})
        self.page: Page = self.context.new_page()
        self.samples: dict[str, list[Sample]] = {}
        self._count_anew()
        network = self.context.new_cdp_session(self.page)
        network.on("Network.responseReceived", self._count_request)
        network.on("Network.loadingFinished", self._count_bytes)
        network.send("Network.enable")
        rates = {"downloadThroughput": RATE if delay else -1, "uploadThroughput": -1}
        network.send("Network.emulateNetworkConditions", {"offline": False, "latency": delay, **rates})
        self.page.set_default_timeout(TIMEOUT_MS)
        self.page.add_init_script(self.script)
        self.page.goto(url + self.address)
        for name, test in self._parts("open").items():
            self.page.wait_for_function(test)
            self.page.wait_for_timeout(0)  # for the counts
            self._note({name: self.page.evaluate("performance.now()")})
        self.page.wait_for_timeout(PAUSE)
        self._count_anew()

    address = ""
    """Query string after the page's address"""
    script = ""
    """JavaScript that runs before the page's own"""
    first: str
    """JavaScript condition for a map"""

    def _parts(self, name: str) -> dict[str, str]:
        """Return the JavaScript conditions of an answer's parts by the gesture's name and what follows it."""
        return {name: self.first}

    def close(self) -> None:
        """Leave the page."""
        self.context.close()

    @abstractmethod
    def patch(self, row: int, col: int) -> None:
        """Point at a patch of 14 x 14, or click it if the page does not answer pointing."""

    @abstractmethod
    def head(self, head: int) -> None:
        """Choose another head of the block."""

    @abstractmethod
    def block(self, block: int, name: str) -> None:
        """Choose another block; `name` is the name of the gesture in `samples`."""

    @abstractmethod
    def model(self, model: str, name: str) -> None:
        """Choose another model."""

    @abstractmethod
    def size(self, size: str, name: str) -> None:
        """Choose another input size."""

    @abstractmethod
    def upload(self, picture: Path) -> None:
        """Upload a picture."""

    @abstractmethod
    def ran(self) -> float:
        """Return the milliseconds of the pass whose map is on the screen."""

    def _count_request(self, event: dict[str, Any]) -> None:
        self._requested.append(event["response"]["url"])

    def _count_bytes(self, event: dict[str, Any]) -> None:
        self._received += int(event["encodedDataLength"])

    def _timed(self, kind: str, act: Callable[[], Any], name: str, changed: str) -> None:
        """Call `act`, and record when each part of the answer is on the screen and `changed` holds."""
        parts = {part: f"{changed} && {test}" for part, test in self._parts(name).items()}
        self.page.evaluate(ARM, [kind, parts, TIMEOUT_MS])
        act()
        times = self.page.evaluate("window.timed")
        self.page.wait_for_timeout(PAUSE)
        self._note(times)
        self._count_anew()

    def _note(self, times: dict[str, float]) -> None:
        """Record milliseconds by name, with the network traffic of all of them together."""
        for name, milliseconds in times.items():
            model = self.ran() if name.split(",")[0] in RUN else 0
            sample = Sample(milliseconds, model, len(self._requested), self._received, self._gradios())
            self.samples.setdefault(name, []).append(sample)

    def _gradios(self) -> int:
        return sum(re.search(r"/(assets|static)/|/theme\.css", address) is not None for address in self._requested)

    def _count_anew(self) -> None:
        self._requested, self._received = [], 0


class Ours(Walk):
    """Walk through ViT Explorer."""

    address = f"?model={MODELS[0]}&weights=random"
    script = """{ const {prototype} = CanvasRenderingContext2D, draw = prototype.drawImage;
      prototype.drawImage = function (...given) {
        this.canvas.painted = this.canvas.closest('.vx-canvas')?.dataset.shown;
        return draw.apply(this, given);
      }; }"""
    first = "document.querySelector('#vx-attention-canvas .vx-canvas')?.dataset.part"
    _canvas = "document.querySelector('#vx-attention-canvas .vx-canvas')"
    _painted = f"{_canvas}.querySelector('.view').painted === {_canvas}.dataset.shown"
    """JavaScript condition for the newest map: it is painted, a frame after it is there"""

    def _parts(self, name: str) -> dict[str, str]:
        return {name: self.first, f"{name}, every patch": f"{self.first} === 'whole'"}

    def patch(self, row: int, col: int) -> None:
        box = self.page.locator("#vx-attention-canvas .view").bounding_box()
        x, y = box["x"] + (col + 0.5) / GRID * box["width"], box["y"] + (row + 0.5) / GRID * box["height"]
        here = f"{self._canvas}.dataset.query === '{row},{col}'"
        self._timed("pointermove", lambda: self.page.mouse.move(x, y), "patch", here)

    def head(self, head: int) -> None:
        tiles = self._tiles(int(self.page.evaluate(f"{self._canvas}.dataset.block")))
        self._timed("click", tiles.nth(head).click, "head", f"{self._canvas}.dataset.head === '{head}'")

    def block(self, block: int, name: str) -> None:
        here = f"{self._canvas}.dataset.block === '{block}' && {self._painted}"
        tile = self._tiles(block).nth(0)
        tile.hover()
        self.page.wait_for_timeout(REST)
        self._timed("click", tile.click, name, here)

    def model(self, model: str, name: str) -> None:
        self.page.locator("#vx-model .chip").click()
        self.page.keyboard.type(model)
        self._until_ready("keydown", lambda: self.page.keyboard.press("Enter"), name)

    def size(self, size: str, name: str) -> None:
        self.page.locator("#vx-size .chip").click()
        choice = self.page.locator("#vx-size .choices button").filter(has_text=f"{size} px")
        choice.wait_for()
        self.page.wait_for_timeout(PAUSE)
        self._until_ready("click", choice.click, name)

    def upload(self, picture: Path) -> None:
        self._until_ready("change", lambda: self.page.locator("#vx-image .file").set_input_files(picture), "upload")

    def ran(self) -> float:
        status = self.page.get_attribute(".vx-status", "data-text")
        return float(re.search(r"([\d.,]+) ms", status)[1].replace(",", ""))

    def _tiles(self, block: int) -> Locator:
        return self.page.locator("#vx-attention-canvas .below .group").nth(block).locator(".small")

    def _until_ready(self, kind: str, act: Callable[[], Any], name: str) -> None:
        before = self.page.evaluate(f"[location.search, {self._canvas}.dataset.shown]")
        other = f"location.search !== {json.dumps(before[0])} && {self._canvas}.dataset.shown !== '{before[1]}'"
        ready = "document.querySelector('.vx-status').dataset.kind === 'ready'"
        self._timed(kind, act, name, f"{other} && {ready} && {self._painted}")


class Twin(Walk):
    """Walk through the page of `twin.py`."""

    first = "(() => { const map = document.querySelector('#map img'); return map?.complete && map.naturalWidth; })()"

    def patch(self, row: int, col: int) -> None:
        box = self.page.locator("#map img").bounding_box()
        x, y = (col + 0.5) / GRID * box["width"], (row + 0.5) / GRID * box["height"]
        click = lambda: self.page.locator("#map img").click(position={"x": x, "y": y})  # noqa: E731
        self._until_drawn("click", click, "patch")

    def head(self, head: int) -> None:
        self._slide("#head", head, "head")

    def block(self, block: int, name: str) -> None:
        self._slide("#block", block, name)

    def model(self, model: str, name: str) -> None:
        self._choose("#model", model, name)

    def size(self, size: str, name: str) -> None:
        self._choose("#size", size, name)

    def upload(self, picture: Path) -> None:
        self.page.locator("#image button[aria-label='Remove Image']").click()
        file = self.page.locator("#image input[type=file]")
        self._until_drawn("change", lambda: file.set_input_files(picture), "upload")

    def ran(self) -> float:
        return float(self.page.input_value("#pass input"))

    def _slide(self, slider: str, value: int, name: str) -> None:
        move = "(one, value) => { one.value = value; one.dispatchEvent(new Event('input', {bubbles: true})); }"
        input_ = self.page.locator(f"{slider} input[type=range]")
        self._until_drawn("input", lambda: input_.evaluate(move, value), name)

    def _choose(self, field: str, value: str, name: str) -> None:
        self.page.locator(f"{field} input").fill(value)
        self._until_drawn("keydown", lambda: self.page.keyboard.press("Enter"), name)

    def _until_drawn(self, kind: str, act: Callable[[], Any], name: str) -> None:
        other = f"document.querySelector('#map img')?.src !== {json.dumps(self.page.get_attribute('#map img', 'src'))}"
        self._timed(kind, act, name, other)
