"""Interleaved timing of several ways to do the same work, as multiples of the first.

Every round runs each way once, in a new random order, and a way's ratio is its time over that of the first way in the
same round, so other load on the machine affects all of them. Results are the median over the rounds with the middle
half. On a CPU the CPU time of the process is used, so that waiting for other processes is not counted.
"""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median, quantiles

Work = Callable[[], object]


@dataclass(frozen=True)
class Timing:
    """Times of one way over the rounds."""

    median: float
    """Median of the ratios to the first way"""
    low: float
    """25th percentile of the ratios"""
    high: float
    """75th percentile of the ratios"""
    seconds: float
    """Median time; reported only where no other process uses the device"""
    rounds: int

    def __str__(self) -> str:
        return f"{self.median:.3f} ({self.low:.3f} to {self.high:.3f})" if self.rounds > 1 else f"{self.median:.2f}"


def interleaved(
    ways: dict[str, Work],
    rounds: int = 15,
    warmup: int = 2,
    limit_s: float = 60.0,
    clock: Callable[[], float] = time.process_time,
    synchronize: Work = lambda: None,
) -> dict[str, Timing]:
    """Return the time of each way as a multiple of the first.

    Args:
        ways: name -> work; dropping its result is part of its time.
        rounds: largest number of counted rounds.
        warmup: rounds before them that are not counted.
        limit_s: seconds of wall time after which no round begins; the first counted round is always run.
        clock: returns the time in seconds.
        synchronize: called before each reading of the clock; `torch.cuda.synchronize` on a GPU.
    """
    began, order, draw = time.monotonic(), list(ways), random.Random(0)
    times: dict[str, list[float]] = {way: [] for way in ways}
    for turn in range(-warmup, rounds):
        late = time.monotonic() - began > limit_s
        if late and any(times.values()):
            break
        if late and turn < 0:
            continue
        draw.shuffle(order)
        for way in order:
            spent = _spent(ways[way], clock, synchronize)
            if turn >= 0:
                times[way].append(spent)
    return summary(times)


def _spent(work: Work, clock: Callable[[], float], synchronize: Work) -> float:
    gc.collect()
    synchronize()
    start = clock()
    work()
    synchronize()
    return clock() - start


def summary(times: dict[str, list[float]]) -> dict[str, Timing]:
    """Summarise the seconds of each way as ratios to the first way."""
    first = next(iter(times.values()))
    summaries = {}
    for way, spent in times.items():
        ratios = [seconds / reference for seconds, reference in zip(spent, first, strict=True)]
        low, _, high = quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else ratios * 3
        summaries[way] = Timing(median(ratios), low, high, median(spent), len(spent))
    return summaries
