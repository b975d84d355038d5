"""Latency from a gesture to its answer on the screen: our page and one of gradio images, near and 100 ms away.

One visitor after the other walks through a page with a new browser profile: opens it, sends a picture of their own,
jumps to three blocks and goes on to two beside them, looks at heads and at patches, takes another model and another
size and goes back. Ours and the twin (`twin.py`), near and 100 ms away, take turns in an order that changes with every
round; the first visitors load the models and are not counted. A new picture, model or size takes a pass of the model,
which both pages tell: the rest is the page.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import PIL.Image
from playwright.sync_api import Browser

from benchmarks.field.bench import OURS, Bench
from benchmarks.field.gestures import Ours, Sample, Twin, Walk
from benchmarks.field.tables import Cell, Table
from benchmarks.field.turns import table as of_turns
from benchmarks.field.twin import MODELS, SIZES
from tests.helpers.app import browser, running_app
from tests.helpers.tree import ROOT

DELAYS = (0, 100)
"""Latency of every request in milliseconds"""
PAGES: dict[str, type[Walk]] = {"ours": Ours, "twin": Twin}
Found = dict[str, dict[int, dict[str, list[Sample]]]]
"""Page -> delay -> gesture -> its samples"""
ROUNDS = 5
GESTURES = {
    "open": "open the page",
    "open, every patch": "and hover it",
    "upload": "a picture of one's own",
    "upload, every patch": "and hover it",
    "patch": "hover a patch (twin: click it)",
    "head": "another head",
    "block": "jump to a block",
    "block, every patch": "and hover it",
    "step": "the block beside",
    "step, every patch": "and hover it",
    "model": "another model, one pass",
    "model, every patch": "and hover it",
    "model back": "back to the first",
    "size": "another size, one pass",
    "size, every patch": "and hover it",
    "size back": "back to the first size",
}


COLUMNS = (
    "gesture", "made", "ours, ms", "p95", "gr.Image, ms", "p95", "ours without the model", "gr.Image without it",
    "times ours", "requests", "kB", "requests of gr.Image", "kB of gr.Image",
)  # fmt: skip
EXPLANATION = (
    "ViT-B/16 with random weights in headless Chromium at 1440 x 900, a new profile for each visitor, medians and 95th "
    "percentiles from the browser's event to the end of the frame that shows the answer. `gr.Image` is the page of "
    "`benchmarks/field/twin.py`, which draws the same maps of the same captures and keeps them as ours does. Requests "
    "and kilobytes are what came until half a second later, with what is fetched ahead, and of opening until the map. "
    "The maps of one query come first where they are not fetched ahead; all heads and patches of a block come as one "
    "file, of which hovering and heads are answered without the server."
)
SHORT = (
    "Another picture, model or size takes more than 80 ms beside the pass: the choice waits in gradio's queue and is "
    "told by a stream, two requests one after the other, and then the rows of all blocks and the block are fetched; "
    "the answer fills all rooms at once, so that entering one of them asks nothing. A new size also takes a pass of "
    "shapes alone, which says whether its memory is allowed. Opening waits, as the twin does, for gradio's own "
    "components, and then for the stage, its scripts and its first map. Every patch of a block comes with the block, "
    "which is fetched ahead where a pointer rests on it or a person has taken a step; a block is clicked here after "
    "the pointer has stood on it for 150 ms."
)
FAR = (
    "Every request waits 100 ms for the head of its answer, and all answers together take 10 Mbit/s, as Chromium's "
    "developer tools limit them."
)
OPENING = (
    "Of the {requests} requests before the first map, {gradios} fetch gradio's own scripts and style sheets, which no "
    "page of gradio does without; the twin's are {twin}."
)


@contextmanager
def _twin() -> Iterator[str]:
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.field.twin"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


def walk(visitor: Walk, picture: Path) -> None:
    """Make all gestures of one visitor."""
    visitor.upload(picture)
    for block in (5, 1, 8):
        visitor.block(block, "block")
    for block in (9, 10):
        visitor.block(block, "step")
    for head in (7, 2, 10):
        visitor.head(head)
    for row, col in ((3, 2), (10, 7), (5, 11)):
        visitor.patch(row, col)
    visitor.model(MODELS[1], "model")
    visitor.model(MODELS[0], "model back")
    visitor.size(SIZES[1], "size")
    visitor.size(SIZES[0], "size back")


def visited(rounds: int, seed: int = 0) -> Found:
    """Return the samples of every gesture."""
    rng, found = random.Random(seed), {page: {delay: {} for delay in DELAYS} for page in PAGES}
    ways = [(page, delay) for page in PAGES for delay in DELAYS]
    with running_app() as ours, _twin() as twin, browser() as chromium, tempfile.TemporaryDirectory() as folder:
        urls = {"ours": ours, "twin": twin}
        for page in PAGES:
            _visit(chromium, page, urls[page], 0, _picture(Path(folder), rng))
        for page, delay in (way for _ in range(rounds) for way in rng.sample(ways, len(ways))):
            samples = _visit(chromium, page, urls[page], delay, _picture(Path(folder), rng))
            for name, more in samples.items():
                found[page][delay].setdefault(name, []).extend(more)
    return found


def _visit(chromium: Browser, page: str, url: str, delay: float, picture: Path) -> dict[str, list[Sample]]:
    visitor = PAGES[page](chromium, url, delay)
    walk(visitor, picture)
    visitor.close()
    return visitor.samples


def _picture(folder: Path, rng: random.Random) -> Path:
    path = folder / "picture.png"
    noise = np.random.default_rng(rng.getrandbits(32)).integers(0, 255, (300, 400, 3), dtype=np.uint8)
    PIL.Image.fromarray(noise).save(path)
    return path


def tables(bench: Bench) -> list[Table]:
    """Return a table for each delay, and the table of two visitors at once."""
    rounds = 1 if bench.quick else min(ROUNDS, bench.rounds)
    files = (*OURS, *(f"vitexplorer/ui/**/*.{kind}" for kind in ("js", "css", "html")), "benchmarks/field/[gt]*.py")
    found = bench.cell(f"{rounds} rounds", Found, partial(visited, rounds), files)
    return [*(_table(found, delay) for delay in DELAYS), of_turns(bench)]


def _table(found: Found, delay: int) -> Table:
    place = f"{delay} ms away" if delay else "on the same machine"
    ours, twin = found["ours"][delay], found["twin"][delay]
    return Table(
        f"page_{delay}",
        f"From a gesture to its answer on the screen, {place}",
        COLUMNS,
        tuple(_row(name, ours[name], twin.get(name, ())) for name in GESTURES),
        (EXPLANATION, FAR if delay else SHORT, _opening(ours["open"], twin["open"])),
    )


def _opening(ours: Sequence[Sample], twin: Sequence[Sample]) -> str:
    return OPENING.format(
        requests=round(median(sample.requests for sample in ours)),
        gradios=round(median(sample.gradios for sample in ours)),
        twin=round(median(sample.gradios for sample in twin)),
    )


def _row(name: str, ours: Sequence[Sample], twin: Sequence[Sample]) -> tuple[Cell, ...]:
    page, other = median(map(of_page, ours)), median(map(of_page, twin)) if twin else None
    return (
        GESTURES[name],
        len(ours),
        *_times(ours),
        *(_times(twin) if twin else (None, None)),
        round(page),
        round(other) if twin else None,
        f"{other / page:.1f}" if twin else None,
        *_wire(ours),
        *(_wire(twin) if twin else (None, None)),
    )


def of_page(sample: Sample) -> float:
    """Return the milliseconds without the model's pass."""
    return sample.milliseconds - sample.model


def _times(samples: Sequence[Sample]) -> tuple[int, int]:
    median_, late = np.percentile([sample.milliseconds for sample in samples], (50, 95))
    return round(median_), round(late)


def _wire(samples: Sequence[Sample]) -> tuple[int, int]:
    return round(median(sample.requests for sample in samples)), round(
        median(sample.received for sample in samples) / 1000
    )
