"""Time, memory and differences of maps: our views and other implementations of the same definitions.

Rollout, generic relevance, Grad-CAM, integrated gradients and occlusion of one image, with the same settings; every
way and its settings are in `view_ways.py`. Our views begin with a capture, which also serves every other view of the
picture: they are timed with it, as the first row of each part, and with a capture at hand, which is what a second view
costs. For a view of gradients the first of the two captures keeps its graph (`differentiable`); the one at hand kept
none, as those of the page, and the network runs once more. Nothing is cached between rounds. Times are
multiples of ours from the image; memory is the peak of a way over the memory with network and image ready, in a fresh
process; the difference is the largest over the map, as a share of our map's largest
value. Random weights, one image of noise, float32.

The second table has the maps of one picture together: ours share a capture, and the pass forward and back of the
gradients; each peer begins anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import vitexplorer as vx
from benchmarks.field.bench import ENGINE, Bench
from benchmarks.field.fresh import Peak, fresh
from benchmarks.field.peers import peers
from benchmarks.field.tables import Cell, Table
from benchmarks.field.timing import Timing
from benchmarks.field.view_ways import OURS, OURS_AFTER, PEER_OF, WAYS, asked
from vitexplorer.capturing.capture import capture_input

CODE = (*ENGINE, "benchmarks/field/view_ways.py")
ONE_PASS = ("attention_rollout", "generic_relevance", "grad_cam")
MANY_ROUNDS = 5
"""Rounds of ways that run the network many times"""


@dataclass(frozen=True)
class Subject:
    """View, model and size of a comparison."""

    view: str
    model: str
    size: int
    """Pixels of the image's side"""

    @property
    def ways(self) -> list[str]:
        """Our ways, and those of the installed peers."""
        here = peers()
        return [way for way in WAYS[self.view] if way not in PEER_OF or PEER_OF[way] in here]

    def __str__(self) -> str:
        return f"{self.view} of {self.model} at {self.size} px"


SMALLEST = tuple(Subject(view, "deit_tiny_patch16_224", 96) for view in WAYS)
ALL = (
    *(Subject(view, "vit_base_patch16_224", 224) for view in ONE_PASS),
    *(Subject(view, "vit_small_patch16_224", 512) for view in ONE_PASS),
    *(Subject(view, "deit_tiny_patch16_224", 224) for view in WAYS if view not in ONE_PASS),
)


def tables(bench: Bench) -> list[Table]:
    """Return one row for each way of each view."""
    subjects = SMALLEST if bench.quick else ALL
    found = {subject: measured(bench, subject) for subject in subjects}
    absolute = ("milliseconds",) if bench.on_gpu else ()
    return [
        Table(
            "views",
            "Views with the same definition",
            ("view", "network, pixels", "way", "time", *absolute, "peak memory, MB", "largest difference"),
            tuple(row for subject in subjects for row in rows_of(bench, subject, *found[subject])),
            tuple(paragraphs({subject: times for subject, (times, _, _) in found.items()})),
        ),
        together(bench, found),
    ]


# ------------------------------------------------------------------------------------------------ measuring

Measured = tuple[dict[str, Timing], dict[str, float], dict[str, Peak]]


def measured(bench: Bench, subject: Subject) -> Measured:
    """Return times, differences and memory of every way."""

    def stored(what: str, kind: type, measure: Callable[[], dict]) -> dict:
        return bench.cell(f"{what} {subject} {subject.ways}", kind, measure, CODE)

    return (
        stored("time", dict[str, Timing], lambda: times(bench, subject)),
        stored("difference", dict[str, float], lambda: differences(bench, subject)),
        stored("memory", dict[str, Peak], lambda: memory(bench, subject)),
    )


def times(bench: Bench, subject: Subject) -> dict[str, Timing]:
    """Return the times of every way, ours from the image first."""
    given = asked(subject.model, subject.size, bench.device)
    ways = {way: WAYS[subject.view][way](given).run for way in subject.ways}
    once = subject.view in ONE_PASS
    return bench.interleaved(ways, None if once else MANY_ROUNDS, warmup=2 if once else 0)


def differences(bench: Bench, subject: Subject) -> dict[str, float]:
    """Return the largest difference of each map from ours, as a share of our largest value."""
    given = asked(subject.model, subject.size, bench.device)
    maps = {way: WAYS[subject.view][way](given).map() for way in subject.ways if way != OURS_AFTER}
    mine = maps.pop(OURS)
    return {way: float(np.abs(found - mine).max() / np.abs(mine).max()) for way, found in maps.items()}


def memory(bench: Bench, subject: Subject) -> dict[str, Peak]:
    """Return the peak memory of every way; an existing capture is not counted."""
    return {way: fresh(working, subject.view, way, subject.model, subject.size, bench.device) for way in subject.ways}


def working(view: str, way: str, model: str, size: int, device: str) -> Callable[[], object]:
    """Prepare a way; a case of `fresh`."""
    return WAYS[view][way](asked(model, size, device)).run


def together(bench: Bench, found: dict[Subject, Measured]) -> Table:
    """Time all maps of a picture that take one pass each: ours after one capture, and the fastest peer of each."""
    rows = []
    for name, size in {(subject.model, subject.size): None for subject in found if subject.view in ONE_PASS}:
        fastest = {
            subject.view: min(
                (way for way in times if way not in (OURS, OURS_AFTER)), key=lambda way: times[way].median
            )
            for subject, (times, _, _) in found.items()
            if (subject.model, subject.size) == (name, size) and subject.view in ONE_PASS
        }
        timings = bench.cell(
            f"together {name} {size} {fastest}",
            dict[str, Timing],
            lambda name=name, size=size, fastest=fastest: times_together(bench, name, size, fastest),
            CODE,
        )
        rows += [(f"{name}, {size}" if way == OURS else None, way, timing) for way, timing in timings.items()]
    title = f"Together: {', '.join(ONE_PASS)} of one picture"
    return Table("views_together", title, ("network, pixels", "way", "time"), tuple(rows))


def times_together(bench: Bench, name: str, size: int, fastest: dict[str, str]) -> dict[str, Timing]:
    """Return the times of our maps from the image, and of a peer for each view."""
    given = asked(name, size, bench.device)
    theirs = [WAYS[view][way](given).run for view, way in fastest.items()]

    def ours() -> None:
        model, image = given.capture.model, given.capture.input
        captured = capture_input(model, image, differentiable=True)
        for view in fastest:
            vx.compute(view, captured, **({} if view == "attention_rollout" else {"target": given.target}))

    def peers_in_turn() -> None:
        for run in theirs:
            run()

    return bench.interleaved({OURS: ours, "the fastest peer of each": peers_in_turn})


# ------------------------------------------------------------------------------------------------ telling


def rows_of(
    bench: Bench, subject: Subject, times: dict[str, Timing], apart: dict[str, float], peaks: dict[str, Peak]
) -> list[tuple[Cell, ...]]:
    """Return the rows of a subject, which the first one names."""
    rows: list[tuple[Cell, ...]] = []
    for way, time in times.items():
        names = (subject.view, f"{subject.model}, {subject.size}") if way == OURS else (None, None)
        absolute = (1000 * time.seconds,) if bench.on_gpu else ()
        rows.append((*names, way, time, *absolute, bench.megabytes(peaks[way]), apart.get(way)))
    return rows


def paragraphs(found: dict[Subject, dict[str, Timing]]) -> list[str]:
    """Name the fastest peer of each view, with the reason if it is faster than ours."""
    fastest, slower = [], {}
    for subject, times in found.items():
        theirs = {way: time for way, time in times.items() if way not in (OURS, OURS_AFTER)}
        best = min(theirs, key=lambda way: theirs[way].median)
        fastest.append(
            f"{subject}: {best} {theirs[best].median:.2f}, ours after a capture {times[OURS_AFTER].median:.2f}"
        )
        if theirs[best].median < 1:
            slower[subject.view] = REASONS[subject.view]
    first = "Fastest peer, ours from the image being 1. " + "; ".join(fastest) + "."
    return [first, *(f"`{view}`, where a peer is faster: {reason}" for view, reason in slower.items())]


REASONS = {
    "attention_rollout": "ours runs the kernel and then computes the softmax once more, a few rows at a time, so that "
    "no product of whole matrices and no list of all weights is ever in memory; on few tokens both cost a peer little.",
    "generic_relevance": "both go forward once and back to the first attention. Ours then computes the softmax of each "
    "block once more, from its queries and keys, a few rows at a time, where a peer has kept all matrices and their "
    "gradients.",
    "grad_cam": "both go forward once and back to the one norm; ours sees every attention call on the way, so that the "
    "other views have what they need. After a capture that kept no graph ours goes forward once more and back through "
    "all blocks, in less time than pytorch-grad-cam takes; its other blocks and three other views then take no pass.",
    "integrated_gradients": "ours is captum's own, 4 images at once, and two passes of one image beside: the capture, "
    "and the baseline for the note of completeness.",
    "occlusion": "ours is captum's feature ablation, 16 images at once, and the capture beside.",
}
