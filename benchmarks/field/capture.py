"""Time that it costs to see the attention of a pass.

Each cell is the time of a way over timm's plain forward pass of the same round; `ways.py` says what the ways are. The
process keeps the memory that it frees, for all of them. On a
GPU the milliseconds themselves stand beside two limits: the arithmetic of the forward pass at the rate that large
products of matrices reach on it now, and the bytes of queries and keys, which is what ours keeps of each block for the
weights, written and read once at the bandwidth that a large copy reaches.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import torch
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.field.bench import Bench
from benchmarks.field.fresh import lacks_memory
from benchmarks.field.tables import Cell, Table
from benchmarks.field.timing import Timing
from benchmarks.field.ways import OURS, OURS_ATTENTION, PEERS, PLAIN, Subject, here, plain, subject
from vitexplorer.capturing.capture import capture_input
from vitexplorer.capturing.capture_batch import capture_inputs
from vitexplorer.core.capture_protocol import PARTS
from vitexplorer.survey.memory import keep_freed_memory

MODELS = ("vit_small_patch16_224", "vit_base_patch16_224", "swin_tiny_patch4_window7_224", "vit_small_patch16_dinov3")
SIZES = (224, 512, 1024)
"""Input sizes in pixels; 518 is not a multiple of these models' patches"""
LARGE, LARGE_SIZES = "vit_large_patch14_dinov2", (518, 1022)
"""Additional model and sizes on a GPU"""
BATCHES = (1, 8)
LONGEST = 15.0
"""Longest plain pass in seconds; slower cases are left out on a CPU"""


@dataclass(frozen=True)
class Case:
    """A row of the tables."""

    model: str
    size: int
    batch: int


def cases(bench: Bench) -> list[Case]:
    """Return all cases, the smallest first."""
    if bench.quick:
        return [Case(model, 224, batch) for model in (MODELS[0], MODELS[2]) for batch in BATCHES]
    found = [Case(model, size, batch) for batch in BATCHES for size in SIZES for model in MODELS]
    return found + [Case(LARGE, size, batch) for batch in BATCHES for size in LARGE_SIZES if bench.on_gpu]


@dataclass(frozen=True)
class Row:
    """Measurements of a case."""

    tokens: int
    times: dict[str, Timing]
    left_out: str = ""
    """Reason why there are no times"""
    lacking: tuple[str, ...] = ()
    """Ways that ran out of memory"""
    limits_ms: tuple[float, float] | None = None
    """Lower limits in ms by arithmetic, and by reading and writing queries and keys; on a GPU only"""


def measure(case: Case, bench: Bench) -> Row:
    """Return the times of every way."""
    it = subject(case.model, case.size, case.batch, bench.device, bench.dtype)
    took = _seconds(Subject(it.model, it.given, 1)) * case.batch
    if took > LONGEST and not bench.on_gpu:
        return Row(it.tokens, {}, f"a plain pass takes more than {LONGEST:g} s here")
    for parts in (PARTS, ("attention",)):  # how a batch is cut is found once for each model and size
        capture_inputs(it.model, [it.given] * min(it.batch, 2), frozenset(parts))
    ways, lacking = {}, []
    for name, make in here().items():
        try:
            work = make(it)
            if name not in (PLAIN, OURS, OURS_ATTENTION):
                work()
            ways[name] = work
        except (RuntimeError, MemoryError) as error:
            if not lacks_memory(error):
                raise
            lacking.append(name)
    times = bench.interleaved(ways, warmup=2 if took < LONGEST / 20 else 0)
    return Row(it.tokens, times, lacking=tuple(lacking), limits_ms=_limits(it) if bench.on_gpu else None)


def _seconds(it: Subject) -> float:
    work = plain(it)
    work()
    start = time.process_time()
    work()
    return time.process_time() - start


def _limits(it: Subject) -> tuple[float, float]:
    """Return the limits in milliseconds: the arithmetic, and the bytes of queries and keys."""
    with FlopCounterMode(display=False) as counter:
        plain(it)()
    calls = [call for calls in capture_input(it.model, it.given).calls for call in calls]
    written = it.batch * it.pixels.element_size() * sum(call.query.numel() + call.key.numel() for call in calls)
    rate, bandwidth = _reached(it.pixels.device, it.pixels.dtype)
    return 1000 * counter.get_total_flops() / rate, 1000 * 2 * written / bandwidth


def _reached(device: torch.device, dtype: torch.dtype) -> tuple[float, float]:
    """Return FLOP/s of large matrix products, and bytes/s read and written by a large copy."""
    a = torch.randn(8192, 8192, generator=torch.Generator(device).manual_seed(0), device=device, dtype=dtype)
    product, copied = _best_of(lambda: a @ a), _best_of(lambda: a.clone())
    return 2 * 8192**3 / product, 2 * a.numel() * a.element_size() / copied


def _best_of(work) -> float:
    found = []
    for _ in range(8):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        found.append(time.perf_counter() - start)
    return min(found)


# ------------------------------------------------------------------------------------------------- the tables


def tables(bench: Bench) -> list[Table]:
    """Return the ratios, milliseconds on a GPU, and how time grows with the tokens."""
    keep_freed_memory()
    found = {case: bench.cell(f"time {case}", Row, lambda case=case: measure(case, bench)) for case in cases(bench)}
    ways = [name for name in here() if name != PLAIN]
    rows = tuple((*_named(case, row), *_cells(row, ways)) for case, row in found.items())
    columns = ("model", "pixels", "tokens", "images", *ways)
    ratios = Table("capture_time", _title(bench), columns, rows, _paragraphs(found))
    return [ratios, *([_milliseconds(found, bench)] if bench.on_gpu else []), growth(found, ways)]


def _title(bench: Bench) -> str:
    return f"Capture: time over a plain forward pass ({bench.dtype}, {bench.device})"


def _named(case: Case, row: Row) -> tuple[Cell, ...]:
    return case.model, case.size, row.tokens, case.batch


def _cells(row: Row, ways: list[str]) -> tuple[Cell, ...]:
    if row.left_out:
        return (f"left out: {row.left_out}", *[None] * (len(ways) - 1))
    return tuple("out of memory" if way in row.lacking else row.times.get(way) for way in ways)


def _paragraphs(found: dict[Case, Row]) -> tuple[str, ...]:
    ratios = {case: row.times[OURS].median for case, row in found.items() if OURS in row.times}
    good = sum(ratio <= 1.02 for ratio in ratios.values())
    beaten = sum(
        all(row.times[OURS].median < timing.median for way, timing in row.times.items() if way in PEERS)
        for row in found.values()
        if row.times
    )
    most = max(ratios.values(), default=math.nan)
    return (
        f"Ours takes at most 1.02 of a plain pass in {good} of {len(ratios)} cases (the most: {most:.3f}) and less "
        f"time than every peer in {beaten}. In brackets: the middle half of the rounds.",
        "All ways ran in a process that keeps the memory it has freed, as a survey does. In one that does not, every "
        "way pays for each page that the system clears anew, and ours for more of them, since what a capture keeps "
        "cannot be used again within the pass: ViT-B at 224 px then touches 22,000 new pages where the plain pass "
        "touches 14,000, and takes 1.05 of it on a virtual machine where a page costs 3 microseconds.",
        "Torch tells ours of every function that a pass calls, 245 of ViT, 607 of DINOv3 and 821 of Swin, at 3 to 4 "
        "microseconds each: about 1, 1.5 and 2 % of a pass of 224 px on this machine, and next to nothing of a larger "
        "one. A mode of torch's that does nothing at all costs three quarters of that. Hooks cost less, but would hang "
        "on a module that many threads share, and do not see what a kernel is given.",
        "What takes long has few rounds and none to warm up: at 1024 px each way also pays for pages that the process "
        "touches for the first time, and ours, which keeps most beside a Swin's windows, for the most of them.",
    )


def _milliseconds(found: dict[Case, Row], bench: Bench) -> Table:
    ways = list(here())
    rows = tuple(
        (
            *_named(case, row),
            *(1000 * row.times[way].seconds if way in row.times else "out of memory" for way in ways),
            *(row.limits_ms or (None, None)),
        )
        for case, row in found.items()
    )
    columns = ("model", "pixels", "tokens", "images", *ways, "limit: arithmetic", "limit: queries and keys")
    return Table("capture_milliseconds", f"Capture: milliseconds ({bench.dtype}, {bench.device})", columns, rows)


def growth(found: dict[Case, Row], ways: list[str]) -> Table:
    """Return the exponent of time in the number of tokens, between the two largest sizes of one image."""
    rows = []
    for model in dict.fromkeys(case.model for case in found):
        sized = sorted(
            (row.tokens, row) for case, row in found.items() if case == Case(model, case.size, 1) and row.times
        )
        if len(sized) > 1:
            (few, small), (many, large) = sized[-2:]
            powers = [power(small.times.get(w), large.times.get(w), many / few) for w in (PLAIN, *ways)]
            rows.append((model, few, many, *powers))
    columns = ("model", "tokens", "to", PLAIN, *ways)
    return Table("capture_growth", "Capture: time grows with this power of the tokens", columns, tuple(rows))


def power(small: Timing | None, large: Timing | None, ratio: float) -> Cell:
    """Return the exponent of `ratio` that takes the smaller time to the larger one."""
    return math.log(large.seconds / small.seconds) / math.log(ratio) if small and large else None
