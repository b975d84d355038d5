"""Memory that it costs to see the attention of a pass.

The peak of a process of its own for each cell (`fresh.py`), over what it held with the model loaded; `ways.py` says
what the ways are. On a GPU: `torch.cuda.max_memory_allocated` over what was allocated before.
"""

from __future__ import annotations

import math

from benchmarks.field.bench import Bench
from benchmarks.field.capture import Case, cases
from benchmarks.field.fresh import TOO_LONG, Peak, fresh
from benchmarks.field.tables import Cell, Table
from benchmarks.field.timing import Work
from benchmarks.field.ways import MAKES, OURS, OURS_ATTENTION, PEERS, PLAIN, here, subject

LONGEST, THREADS = 10.0, 2
"""Longest plain pass in seconds, beyond which a case is left out, and its number of threads"""
TIMES = 8
"""Time limit of a way, in multiples of LONGEST"""
Peaks = dict[str, Peak]


def prepared(way: str, case: Case, device: str, dtype: str) -> Work:
    """Return the work of a way; called in the process that measures it."""
    return MAKES[way][1](subject(case.model, case.size, case.batch, device, dtype))


def measure(case: Case, bench: Bench) -> Peaks:
    """Return the peak of every way; only that of the plain pass if it takes too long."""
    found: Peaks = {}
    for way in here():
        found[way] = fresh(
            prepared, way, case, bench.device, bench.dtype, threads=THREADS, timeout_s=60 + TIMES * LONGEST
        )
        if way == PLAIN and (found[way].fell or found[way].seconds > LONGEST):
            return {PLAIN: Peak(fell=TOO_LONG)}
    return found


def tables(bench: Bench) -> list[Table]:
    """Return the megabytes of every way, and how they grow with the tokens."""
    ways = list(here())
    found = {case: bench.cell(f"memory {case}", Peaks, lambda case=case: measure(case, bench)) for case in cases(bench)}
    rows = tuple(
        (case.model, case.size, case.batch, *(_cell(peaks.get(way), bench) for way in ways))
        for case, peaks in found.items()
    )
    columns = ("model", "pixels", "images", *ways)
    title = f"Capture: peak memory of a process over the loaded model, MB ({bench.dtype}, {bench.device})"
    return [Table("capture_memory", title, columns, rows, _paragraphs(found, bench)), growth(found, ways, bench)]


def _cell(peak: Peak | None, bench: Bench) -> Cell:
    if peak is None:
        return None if bench.on_gpu else "left out"
    return bench.megabytes(peak)


def _paragraphs(found: dict[Case, Peaks], bench: Bench) -> tuple[str, ...]:
    return (
        _compared(found, bench, OURS_ATTENTION),
        _compared(found, bench, OURS),
        "Ours keeps queries, keys, values and the residual stream, from which every view is drawn, in proportion to "
        "the tokens; the peers keep weights alone, in proportion to tokens times keys. With attention alone it keeps "
        "queries and keys, or the scores of an explicit softmax, as timm's Swin has one. Where a query has few keys "
        "(224 px; the 49 of a window of Swin) weights are few numbers, and Swin's scores are as many, so that no less "
        "can be kept: computed again from queries and keys, they would have other last bits than the ones used. "
        "The first batch of a model and size also costs passes of two pictures, by which its tensors are cut apart.",
    )


def _compared(found: dict[Case, Peaks], bench: Bench, way: str) -> str:
    """Count the cases in which a way takes less memory than every peer, and name the others."""
    measured = {case: peaks for case, peaks in found.items() if way in peaks and not peaks[way].fell}
    lost = {}
    for case, peaks in measured.items():
        theirs = {bench.bytes_of(peaks[peer]): peer for peer in PEERS if peer in peaks and not peaks[peer].fell}
        if min(theirs) <= bench.bytes_of(peaks[way]):
            lost[case] = theirs[min(theirs)]
    wins = len(measured) - len(lost)
    sentence = f"{way.capitalize()}: less memory than every peer in {wins} of {len(measured)} cases."
    if lost:
        named = ", ".join(f"{case.model} at {case.size} x {case.batch} ({peer})" for case, peer in lost.items())
        sentence += f" Not at {named}."
    return sentence


def growth(found: dict[Case, Peaks], ways: list[str], bench: Bench) -> Table:
    """Return the exponent of memory in the number of pixels, between the two largest sizes of one image."""
    rows = []
    for model in dict.fromkeys(case.model for case in found):
        sized = [
            (case.size, peaks) for case, peaks in found.items() if case == Case(model, case.size, 1) and len(peaks) > 1
        ]
        if len(sized) > 1:
            (few, small), (many, large) = sorted(sized, key=lambda pair: pair[0])[-2:]
            rows.append((model, few, many, *(_power(small.get(w), large.get(w), many / few, bench) for w in ways)))
    columns = ("model", "pixels", "to", *ways)
    return Table("capture_memory_growth", "Capture: memory grows with this power of the tokens", columns, tuple(rows))


def _power(small: Peak | None, large: Peak | None, ratio: float, bench: Bench) -> Cell:
    if not small or not large or small.fell or large.fell:
        return None
    return math.log(bench.bytes_of(large) / bench.bytes_of(small)) / (2 * math.log(ratio))
