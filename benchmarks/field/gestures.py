"""What a person does on a page of attention maps, and when its answer is on the screen.

Two pages know the same gestures: ours, and `twin.py`. A gesture is timed inside the page, from the browser's own event
to the first frame after which its answer is there.
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

PATIENCE = 90_000
"""milliseconds"""
GRID = 14
"""patches in a row of the maps that are pointed at"""
RUN = ("upload", "model", "size")
"""gestures for which the model runs"""
PAUSE = 400
"""milliseconds for which a person looks at what came; what is fetched ahead arrives"""
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
"""from the next event of a kind, the milliseconds until the end of the frame in which each of these is so"""


@dataclass
class Sample:
    """One gesture."""

    milliseconds: float
    model: float
    """milliseconds of which the model's pass took"""
    requests: int
    received: int
    """bytes of answers, with their headers, also of what is fetched ahead"""


class Walk(ABC):
    """A visitor's way through a page that was never opened before; `samples` has every gesture by its name."""

    def __init__(self, browser: Browser, url: str, delay: float):
        """Open the page.

        Args:
            browser: for which a new profile is made.
            url: of the page.
            delay: milliseconds that every request waits for its answer, as Chromium's developer tools add them.
        """
        self.context: BrowserContext = browser.new_context(viewport={"width": 1440, "height": 900})
        self.page: Page = self.context.new_page()
        self.samples: dict[str, list[Sample]] = {}
        self._requests = self._received = 0
        network = self.context.new_cdp_session(self.page)
        network.on("Network.responseReceived", self._asked)
        network.on("Network.loadingFinished", self._came)
        network.send("Network.enable")
        rates = {"downloadThroughput": -1, "uploadThroughput": -1}
        network.send("Network.emulateNetworkConditions", {"offline": False, "latency": delay, **rates})
        self.page.set_default_timeout(PATIENCE)
        self.page.goto(url + self.address)
        self.page.wait_for_function(self.first)
        self._note({"open": self.page.evaluate("performance.now()")})

    address = ""
    """what stands behind the page's own"""
    first: str
    """when the first map is there"""

    def close(self) -> None:
        """Leave the page."""
        self.context.close()

    @abstractmethod
    def patch(self, row: int, col: int) -> None:
        """Point at a patch of 14 x 14; where nothing answers that, click it."""

    @abstractmethod
    def head(self, head: int) -> None:
        """Another head of the block."""

    @abstractmethod
    def block(self, block: int, name: str) -> None:
        """Another block. Gestures that are told apart say under which name they are noted."""

    @abstractmethod
    def model(self, model: str, name: str) -> None:
        """Another model."""

    @abstractmethod
    def size(self, size: str, name: str) -> None:
        """Another size of its input."""

    @abstractmethod
    def upload(self, picture: Path) -> None:
        """A picture of one's own."""

    @abstractmethod
    def ran(self) -> float:
        """Milliseconds that the pass took whose map is on the screen."""

    def _asked(self, _: dict[str, Any]) -> None:
        self._requests += 1

    def _came(self, event: dict[str, Any]) -> None:
        self._received += int(event["encodedDataLength"])

    def _timed(self, kind: str, act: Callable[[], Any], **parts: str) -> None:
        """Do something, and note when each part of its answer is on the screen."""
        self.page.evaluate(ARM, [kind, parts, PATIENCE])
        act()
        self._note(self.page.evaluate("window.timed"))

    def _note(self, times: dict[str, float]) -> None:
        """Milliseconds by name, with what came over the network for all of them together."""
        self.page.wait_for_timeout(PAUSE)
        for name, milliseconds in times.items():
            sample = Sample(milliseconds, self.ran() if name in RUN else 0, self._requests, self._received)
            self.samples.setdefault(name, []).append(sample)
        self._requests = self._received = 0


class Ours(Walk):
    """ViT Explorer."""

    address = f"?model={MODELS[0]}&weights=random"
    first = "document.querySelector('#vx-attention-canvas .vx-canvas')?.dataset.part === 'whole'"
    _canvas = "document.querySelector('#vx-attention-canvas .vx-canvas')"

    def patch(self, row: int, col: int) -> None:
        box = self.page.locator("#vx-attention-canvas .view").bounding_box()
        x, y = box["x"] + (col + 0.5) / GRID * box["width"], box["y"] + (row + 0.5) / GRID * box["height"]
        here = f"{self._canvas}.dataset.query === '{row},{col}'"
        self._timed("pointermove", lambda: self.page.mouse.move(x, y), patch=here)

    def head(self, head: int) -> None:
        tiles = self._tiles(int(self.page.evaluate(f"{self._canvas}.dataset.block")))
        self._timed("click", tiles.nth(head).click, head=f"{self._canvas}.dataset.head === '{head}'")

    def block(self, block: int, name: str) -> None:
        here = f"{self._canvas}.dataset.block === '{block}'"
        whole = f"{here} && {self._canvas}.dataset.part === 'whole'"
        self._timed("click", self._tiles(block).nth(0).click, **{name: here, f"{name}, every patch": whole})

    def model(self, model: str, name: str) -> None:
        self.page.locator("#vx-model .chip").click()
        self.page.keyboard.type(model)
        self._explored("keydown", lambda: self.page.keyboard.press("Enter"), name)

    def size(self, size: str, name: str) -> None:
        self.page.locator("#vx-size .chip").click()
        choice = self.page.locator("#vx-size .choices button").filter(has_text=f"{size} px")
        choice.wait_for()
        self.page.wait_for_timeout(PAUSE)
        self._explored("click", choice.click, name)

    def upload(self, picture: Path) -> None:
        self._explored("change", lambda: self.page.locator("#vx-image .file").set_input_files(picture), "upload")

    def ran(self) -> float:
        said = self.page.get_attribute(".vx-status", "data-text")
        return float(re.search(r"([\d.,]+) ms", said)[1].replace(",", ""))

    def _tiles(self, block: int) -> Locator:
        return self.page.locator("#vx-attention-canvas .below .group").nth(block).locator(".small")

    def _explored(self, kind: str, act: Callable[[], Any], name: str) -> None:
        before = self.page.evaluate(f"[location.search, {self._canvas}.dataset.shown]")
        other = f"location.search !== {json.dumps(before[0])} && {self._canvas}.dataset.shown !== '{before[1]}'"
        ready = f"{other} && document.querySelector('.vx-status').dataset.kind === 'ready' && ({self.first})"
        self._timed(kind, act, **{name: ready})


class Twin(Walk):
    """The page of `twin.py`."""

    first = "(() => { const map = document.querySelector('#map img'); return map?.complete && map.naturalWidth; })()"

    def patch(self, row: int, col: int) -> None:
        box = self.page.locator("#map img").bounding_box()
        x, y = (col + 0.5) / GRID * box["width"], (row + 0.5) / GRID * box["height"]
        click = lambda: self.page.locator("#map img").click(position={"x": x, "y": y})  # noqa: E731
        self._drawn("click", click, "patch")

    def head(self, head: int) -> None:
        self._slid("#head", head, "head")

    def block(self, block: int, name: str) -> None:
        self._slid("#block", block, name)

    def model(self, model: str, name: str) -> None:
        self._listed("#model", model, name)

    def size(self, size: str, name: str) -> None:
        self._listed("#size", size, name)

    def upload(self, picture: Path) -> None:
        self.page.locator("#image button[aria-label='Remove Image']").click()
        file = self.page.locator("#image input[type=file]")
        self._drawn("change", lambda: file.set_input_files(picture), "upload")

    def ran(self) -> float:
        return float(self.page.input_value("#pass input"))

    def _slid(self, slider: str, value: int, name: str) -> None:
        move = "(one, value) => { one.value = value; one.dispatchEvent(new Event('input', {bubbles: true})); }"
        slid = self.page.locator(f"{slider} input[type=range]")
        self._drawn("input", lambda: slid.evaluate(move, value), name)

    def _listed(self, field: str, value: str, name: str) -> None:
        self.page.locator(f"{field} input").fill(value)
        self._drawn("keydown", lambda: self.page.keyboard.press("Enter"), name)

    def _drawn(self, kind: str, act: Callable[[], Any], name: str) -> None:
        other = f"document.querySelector('#map img')?.src !== {json.dumps(self.page.get_attribute('#map img', 'src'))}"
        self._timed(kind, act, **{name: f"{other} && {self.first}"})
