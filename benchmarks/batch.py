"""Cost of a batch's captures and a survey's questions, relative to the plain batched pass.

    python -m benchmarks.batch [--batch 16] [--rounds 15] [--models scenes_vit_patch16_192 ...]

Every round runs all rows one after the other, in turn forwards and backwards, and a row's number is the median over the
rounds of its time divided by the plain pass of the same round. Times are CPU time of one thread. All rows run in a
process that keeps the memory it has freed, as a survey's processes do; `--forgetful` leaves that out.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from collections.abc import Callable
from statistics import median

os.environ["OMP_NUM_THREADS"] = "1"  # before torch

import numpy as np
import torch

import vitexplorer as vx
from vitexplorer.capturing.capture import prepare
from vitexplorer.capturing.capture_batch import capture_inputs
from vitexplorer.models.loading import LoadedModel
from vitexplorer.survey.memory import keep_freed_memory
from vitexplorer.survey.schema import schema_of

MODELS = ("scenes_vit_patch16_192", "scenes_swin_patch4_window6_192")
TARGETS = {"captured in one pass": 1.05, "and every question": 1 / 0.95}
"""Largest multiples of the plain batched pass"""


def rows_of(model: LoadedModel, batch: int) -> dict[str, Callable[[], object]]:
    """Return the timed functions by row, the plain pass first."""
    rng = np.random.default_rng(0)
    size = model.preprocessing.input_size
    inputs = [prepare(model, rng.integers(0, 256, (*size, 3), dtype=np.uint8), "squash") for _ in range(batch)]
    schema = schema_of(model)
    targets = [None] * batch
    captures = schema.captures(model, inputs)

    def plain() -> torch.Tensor:
        with torch.no_grad():
            return model.module(torch.cat([prepared.tensor for prepared in inputs]))

    rows: dict[str, Callable[[], object]] = {
        "plain batched pass": plain,
        "captured in one pass": lambda: capture_inputs(model, inputs),
        "captured and watched": lambda: schema.captures(model, inputs),
        "and every question": lambda: schema.answers(schema.captures(model, inputs), targets),
    }
    for question in schema.questions:
        rows[f"  {question.key} alone"] = lambda question=question: question.answers(captures, targets)
    return rows


def measure(rows: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Return CPU seconds of every row in every round."""
    times: dict[str, list[float]] = {row: [] for row in rows}
    for turn in range(rounds + 2):
        for row, work in reversed(rows.items()) if turn % 2 else rows.items():
            gc.collect()
            start = time.process_time()
            work()
            if turn >= 2:  # the first ones warm up
                times[row].append(time.process_time() - start)
    return times


def print_table(name: str, batch: int, times: dict[str, list[float]]) -> bool:
    """Print one table; return True if every target is met."""
    plain = next(iter(times.values()))
    met = True
    print(f"\n{name}, {batch} images, {len(plain)} rounds, CPU time of one thread")
    print(f"{'':26}{'ms an image':>12}{'/ plain':>10}{'target':>10}")
    for row, spent in times.items():
        ratio = median(a / b for a, b in zip(spent, plain, strict=True))
        target = TARGETS.get(row)
        met &= target is None or ratio <= target
        goal = "" if target is None else f"<= {target:.3f}{'' if ratio <= target else '  MISSED'}"
        print(f"{row:26}{1000 * median(spent) / batch:12.3f}{ratio:10.4f}   {goal}", flush=True)
    return met


def main() -> int:
    """Print the tables; return 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--forgetful", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if not options.forgetful:
        keep_freed_memory()
    print(f"torch {torch.__version__}, {os.cpu_count()} CPUs")
    met = []
    for name in options.models:
        model = vx.load_model(name, weights="auto" if name.startswith("scenes") else "random", device="cpu")
        met.append(print_table(name, options.batch, measure(rows_of(model, options.batch), options.rounds)))
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
