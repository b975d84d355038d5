"""Growth of time and memory: with tokens, blocks, heads, images of a survey, and visitors.

Each work is run at several sizes in turns, and its numbers are multiples of those of the smallest size. Beside them
stands the growth of the work's arithmetic. The networks are ViT-Ti with random weights, and with another input size,
number of blocks or of heads; a view is timed after a capture. `docs/make/growth.py` draws the points.

In each block a pass multiplies 12 n d^2 + 2 n^2 d pairs of numbers, n tokens of d numbers; relevance and faithfulness
are passes. One query's attention multiplies n d, and rollout takes the n^2 weights of every head. A capture keeps
4 n d numbers of each block: queries, keys, values, and the residual stream. A query of a survey reads
columns. A visitor opens the page, sends a picture and looks at blocks, heads, another model and a map.
"""

from __future__ import annotations

import asyncio
import math
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import timm
import torch

import vitexplorer as vx
from benchmarks.field.bench import OURS, Bench
from benchmarks.field.fresh import fresh
from benchmarks.field.tables import Table
from benchmarks.field.timing import Work
from benchmarks.http_visitor import recorded_files
from benchmarks.load import ALONE, GENTLE, server_process, visit_together
from tests.helpers.app import running_app
from tests.helpers.survey_folder import same_names, synthetic_survey
from vitexplorer.capturing.capture import Capture, capture_input, prepare
from vitexplorer.survey.answers import count, histogram, worst
from vitexplorer.survey.conditions import Within
from vitexplorer.survey.opened import open_survey

ROWS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
VISITORS = (1, 5, 25, 100)
WIDTH = 192
PASS, CAPTURE, MAP, ROLLOUT = "plain pass", "capture", "attention_map", "attention_rollout"
RELEVANCE, FAITHFULNESS = "generic_relevance", "faithfulness"
WORKS = {
    "tokens": (PASS, CAPTURE, MAP, ROLLOUT, RELEVANCE, FAITHFULNESS),
    "blocks": (CAPTURE, MAP, ROLLOUT, RELEVANCE),
    "heads": (CAPTURE, MAP, ROLLOUT, RELEVANCE),
}
SETTINGS = {FAITHFULNESS: {"methods": ("input_x_gradient",), "steps": 2}}
AT_MOST = {FAITHFULNESS: 896, RELEVANCE: 896}
"""Largest input size in pixels of works that take many passes, or keep the graph of one"""


@dataclass(frozen=True)
class Shape:
    """Sizes of a network and of its image."""

    size: int = 224
    """Pixels of the image's side"""
    blocks: int = 2
    heads: int = 3

    @property
    def tokens(self) -> int:
        return (self.size // 16) ** 2 + 1

    def arithmetic(self, name: str) -> float:
        """Return the multiplications of a work, up to a factor that is the same for all shapes."""
        n = self.tokens
        if name == MAP:
            return n * WIDTH
        if name == ROLLOUT:
            return self.blocks * n**2 * (WIDTH + self.heads)
        return self.blocks * (12 * n * WIDTH**2 + 2 * n**2 * WIDTH)

    @property
    def capture_numbers(self) -> float:
        """Numbers that a capture keeps."""
        return self.blocks * 4 * self.tokens * WIDTH

    def capture(self) -> Capture:
        """Capture noise with a new network of this shape."""
        sizes = {"img_size": self.size, "depth": self.blocks, "num_heads": self.heads}
        model = vx.wrap(timm.create_model("vit_tiny_patch16_224", **sizes).eval())
        pixels = np.random.default_rng(0).integers(0, 256, (self.size, self.size, 3), dtype=np.uint8)
        return capture_input(model, prepare(model, pixels, fit="squash"))


@dataclass(frozen=True)
class Point:
    """Time or memory of a work at one size, and the growth of its arithmetic, both over the smallest size."""

    measured: float
    expected: float


Series = dict[int, Point]
"""Size -> point"""
PANELS = {
    "tokens": [Shape(size=size) for size in (224, 448, 896, 2048)],
    "blocks": [Shape(blocks=blocks) for blocks in (2, 4, 8, 16)],
    "heads": [Shape(heads=heads) for heads in (1, 2, 4, 8, 16)],
}
"""Property of `Shape` that grows -> shapes"""


def working(name: str, given: Capture) -> Work:
    """Return a work: a pass, a capture, or a view of a capture for which nothing is cached."""
    if name == PASS:
        return torch.no_grad()(lambda: given.run(given.input.tensor))
    if name == CAPTURE:
        return lambda: capture_input(given.model, given.input)
    return lambda: vx.compute(name, replace(given), **SETTINGS.get(name, {}))


def prepared(name: str, shape: Shape) -> Work:
    """Return a work; called in the process that measures its memory."""
    return working(name, shape.capture())


def times(bench: Bench, against: str, name: str) -> Series:
    """Time a work at every size."""
    shapes = [shape for shape in PANELS[against] if shape.size <= AT_MOST.get(name, shape.size)]
    shapes = {getattr(shape, against): shape for shape in shapes[: 2 if bench.quick else None]}
    timings = bench.interleaved({str(at): working(name, shape.capture()) for at, shape in shapes.items()}, warmup=1)
    first = min(shape.arithmetic(name) for shape in shapes.values())
    return {at: Point(timings[str(at)].median, shape.arithmetic(name) / first) for at, shape in shapes.items()}


def memory(bench: Bench, name: str) -> Series:
    """Measure the peak memory of a pass or a capture at every number of tokens."""
    shapes = PANELS["tokens"][: 2 if bench.quick else None]
    peaks = [bench.bytes_of(fresh(prepared, name, shape, timeout_s=600)) for shape in shapes]
    return {
        shape.tokens: Point(peak / peaks[0], shape.capture_numbers / shapes[0].capture_numbers)
        for shape, peak in zip(shapes, peaks, strict=True)
    }


def queries(bench: Bench) -> dict[str, Series]:
    """Time queries of a survey at every number of rows."""
    asked = {"count": lambda survey: count(survey, (Within("probability", 0.2, 0.4),))}
    asked |= {"histogram": lambda survey: histogram(survey, "entropy", ()), "worst": lambda survey: worst(survey, ())}
    with tempfile.TemporaryDirectory(prefix="growth-") as folder:
        surveys = {}
        for rows in ROWS[: 2 if bench.quick else None]:
            place = Path(folder) / str(rows)
            surveys[rows] = open_survey(
                synthetic_survey(place, rows, rows_per_shard=100_000, classes=same_names(20), lists=False)
            )
        series = {}
        for name, ask in asked.items():
            ways = {str(rows): lambda survey=survey, ask=ask: ask(survey) for rows, survey in surveys.items()}
            timings = bench.interleaved(ways, rounds=5, warmup=1)
            series[name] = {int(rows): Point(timing.median, int(rows) / ROWS[0]) for rows, timing in timings.items()}
        return series


def visits(bench: Bench) -> dict[str, Series]:
    """Measure the server's seconds of processor, and its peak memory, for every number of visitors."""
    spent, memory = {}, {}
    with running_app() as url:
        files, server = recorded_files(url), server_process()
        asyncio.run(visit_together(url, server, files, 1, ALONE))  # models are loaded once
        for visitors in VISITORS[: 2 if bench.quick else None]:
            before = sum(server.cpu_times()[:2])
            memory[visitors] = asyncio.run(visit_together(url, server, files, visitors, GENTLE)).memory
            spent[visitors] = sum(server.cpu_times()[:2]) - before
    return {
        "processor": {n: Point(seconds / spent[1], n) for n, seconds in spent.items()},
        "memory": {n: Point(held / memory[1], 1) for n, held in memory.items()},
    }


# ------------------------------------------------------------------------------------------------- the tables

DEPARTURES = (
    "The count of multiplications leaves out the softmax, which reads the n^2 weights of every head: relevance and "
    "faithfulness grow a little faster than a pass from 785 to 3137 tokens, and more heads, each of fewer numbers, "
    "cost something although they multiply no more.",
    "One query's map and a question to a survey cost their calls rather than their arithmetic until they are large. "
    "The server's memory grows with its visitors until its caches are full, and a visitor's share of its processor "
    "falls from one visitor to some, since files and models are there already.",
)


def tables(bench: Bench) -> list[Table]:
    """Return the points, and the powers between the two largest sizes of each series."""
    found: dict[tuple[str, str], Series] = {}
    for against, names in WORKS.items():
        for name in names:
            measure = lambda against=against, name=name: times(bench, against, name)  # noqa: E731
            found[against, name] = bench.cell(f"{name} by {against}", Series, measure)
    for name in (PASS, CAPTURE):
        measure = lambda name=name: memory(bench, name)  # noqa: E731
        found["tokens, memory", name] = bench.cell(f"memory of {name}", Series, measure)
    for against, measure in {"rows of a survey": queries, "visitors": visits}.items():
        series = bench.cell(against, dict[str, Series], lambda measure=measure: measure(bench), OURS)
        found |= {(against, name): points for name, points in series.items()}
    return [_points(found), _powers(found)]


def _points(found: dict[tuple[str, str], Series]) -> Table:
    rows = tuple(
        (against, name, size, point.measured, point.expected)
        for (against, name), series in found.items()
        for size, point in series.items()
    )
    columns = ("grows", "work", "size", "times the smallest", "its arithmetic")
    return Table("growth_points", "Growth: times the smallest size", columns, rows)


def _powers(found: dict[tuple[str, str], Series]) -> Table:
    rows = []
    for (against, name), series in found.items():
        (few, small), (many, large) = list(series.items())[-2:]
        measured, expected = large.measured / small.measured, large.expected / small.expected
        powers = (math.log(ratio) / math.log(many / few) for ratio in (measured, expected))
        rows.append((against, few, many, name, *powers))
    columns = ("grows", "from", "to", "work", "power", "power of its arithmetic")
    return Table("growth_powers", "Growth: powers between the two largest sizes", columns, tuple(rows), DEPARTURES)
