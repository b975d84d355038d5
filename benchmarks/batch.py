"""Cost of a batch's captures and a survey's questions, relative to the plain batched pass.

    python -m benchmarks.batch [--batch 16] [--rounds 15] [--models scenes_vit_patch16_192,...]

A row's number is the median over the rounds of its time divided by the plain pass of the same round
(`field/timing.py`). Times are CPU time of one thread. All rows run in a process that keeps the memory it has freed, as
a survey's processes do; `--forgetful` leaves that out.
"""

from __future__ import annotations

import math
import os
from typing import Annotated

os.environ["OMP_NUM_THREADS"] = "1"  # before torch

import numpy as np
import torch
import typer

import vitexplorer as vx
from benchmarks.engine import print_table
from benchmarks.field.timing import Work, interleaved
from vitexplorer.capturing.capture import prepare
from vitexplorer.capturing.capture_batch import capture_inputs
from vitexplorer.models.loading import LoadedModel
from vitexplorer.survey.memory import keep_freed_memory
from vitexplorer.survey.schema import schema_of

MODELS = ("scenes_vit_patch16_192", "scenes_swin_patch4_window6_192")
TARGETS = {"captured in one pass": 1.05, "and every question": 1 / 0.95}
"""Largest multiples of the plain batched pass"""


def rows_of(model: LoadedModel, batch: int) -> dict[str, Work]:
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

    rows: dict[str, Work] = {
        "plain batched pass": plain,
        "captured in one pass": lambda: capture_inputs(model, inputs),
        "captured and watched": lambda: schema.captures(model, inputs),
        "and every question": lambda: schema.answers(schema.captures(model, inputs), targets),
    }
    for question in schema.questions:
        rows[f"  {question.key} alone"] = lambda question=question: question.answers(captures, targets)
    return rows


def main(
    batch: Annotated[int, typer.Option(help="Images in a pass.")] = 16,
    rounds: Annotated[int, typer.Option(help="Counted rounds.")] = 15,
    models: Annotated[str, typer.Option(help="Names, with commas between.")] = ",".join(MODELS),
    forgetful: Annotated[bool, typer.Option(help="Do not keep freed memory.")] = False,
) -> None:
    """Print the tables; exit with 1 if a target is missed."""
    torch.set_num_threads(1)
    if not forgetful:
        keep_freed_memory()
    print(f"torch {torch.__version__}, {os.cpu_count()} CPUs")
    met = []
    for name in models.split(","):
        model = vx.load_model(name, weights="auto" if name.startswith("scenes") else "random", device="cpu")
        timings = interleaved(rows_of(model, batch), rounds, limit_s=math.inf)
        met.append(print_table(f"{name}, {batch} images", timings, TARGETS, batch))
    if not all(met):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
