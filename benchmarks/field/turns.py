"""Cost of the scheduler for two visitors who request passes of one model at the same moment.

The page runs one pass at a time, on all cores (`service/scheduler.py`). It is compared with the same passes in a loop,
which is the least possible cost, and with two threads that run their passes at once and share cores.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from pydantic import TypeAdapter

import vitexplorer as vx
from benchmarks.field.bench import OURS, ROOT, Bench
from benchmarks.field.tables import Table
from benchmarks.field.timing import Timing, interleaved
from vitexplorer.capturing.capture import Capture
from vitexplorer.models.loading import LoadedModel
from vitexplorer.service.jobs import Report, Waiting, waiting
from vitexplorer.service.scheduler import Scheduler

MODEL, QUICK = "vit_base_patch16_224", "vit_tiny_patch16_224"
EACH = 3
"""Pictures of each visitor"""
_TIMINGS = TypeAdapter(dict[str, Timing])
VISITORS = ("one", "another")
IN_A_LOOP, IN_TURNS, AT_ONCE = "one after the other, in a loop", "two visitors, in turns", "two threads at once"
EXPLANATION = (
    "Six passes of one model on all cores of this machine, by wall time. Turns cost what the second row has over the "
    "first; the third shows what two visitors would have without them."
)


def table(bench: Bench) -> Table:
    """Return wall times as multiples of the loop's."""
    found = bench.cell("turns", dict[str, Timing], partial(measured, bench), OURS)
    rows = tuple((way, timing) for way, timing in found.items())
    return Table(
        "turns", "Two visitors who want the same model", ("three pictures of each", "time"), rows, (EXPLANATION,)
    )


def measured(bench: Bench) -> dict[str, Timing]:
    """Time the three ways, interleaved, in a process with the page's OMP_WAIT_POLICY."""
    arguments = [QUICK, "2"] if bench.quick else [MODEL, str(bench.rounds)]
    command = [sys.executable, "-m", "benchmarks.field.turns", *arguments, str(bench.limit_s)]
    environment = {**os.environ, "OMP_WAIT_POLICY": "PASSIVE"}
    ended = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True)
    return _TIMINGS.validate_json(ended.stdout)


def main(name: str, rounds: int, limit_s: float) -> None:
    """Print the timings as JSON."""
    model, draw = vx.load_model(name, weights="random"), np.random.default_rng(0)
    pictures = [draw.integers(0, 255, (224, 224, 3), dtype=np.uint8) for _ in range(EACH * len(VISITORS))]
    scheduler, shares = Scheduler("benchmark"), [pictures[i :: len(VISITORS)] for i in range(len(VISITORS))]
    ways = {
        IN_A_LOOP: lambda: _captures(model, pictures),
        IN_TURNS: lambda: asyncio.run(_in_turns(scheduler, model, shares)),
        AT_ONCE: lambda: _at_once(model, shares),
    }
    found = interleaved(ways, rounds, 1, limit_s, clock=time.perf_counter)
    sys.stdout.buffer.write(_TIMINGS.dump_json(found))


def _captures(model: LoadedModel, pictures: list[np.ndarray]) -> None:
    for picture in pictures:
        vx.capture(model, picture)


async def _in_turns(scheduler: Scheduler, model: LoadedModel, shares: list[list[np.ndarray]]) -> None:
    async def visit(visitor: str, pictures: list[np.ndarray]) -> None:
        waiting.set(Waiting(visitor))  # in the context of this visitor's own task
        for number, picture in enumerate(pictures):
            await scheduler.run((visitor, number), _work(model, picture))

    await asyncio.gather(*map(visit, VISITORS, shares))


def _work(model: LoadedModel, picture: np.ndarray) -> Callable[[Report], Capture]:
    return lambda _: vx.capture(model, picture)


def _at_once(model: LoadedModel, shares: list[list[np.ndarray]]) -> None:
    with ThreadPoolExecutor(len(shares)) as pool:
        list(pool.map(partial(_captures, model), shares))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
