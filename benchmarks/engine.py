"""Cost of capture, attention and rollout, relative to the plain forward pass of the same model.

    python -m benchmarks.engine [--rounds 15]

A row's number is the median over the rounds of its time divided by the plain forward pass of the same round
(`field/timing.py`). Times are CPU time of one thread, with random weights: neither changes the arithmetic. Memory is
the peak of a fresh process each (`field/fresh.py`), with the plain pass in one and the exploring in the other.
"""

from __future__ import annotations

import math
import os
from typing import Annotated

os.environ["OMP_NUM_THREADS"] = "1"  # before torch

import numpy as np
import torch
import typer
from torch.overrides import TorchFunctionMode

import vitexplorer as vx
from benchmarks.field.fresh import fresh
from benchmarks.field.timing import Timing, Work, interleaved
from vitexplorer.capturing.capture import Capture, capture_input, prepare
from vitexplorer.models.loading import LoadedModel

SPEED_MODELS = ("vit_base_patch16_224", "swin_tiny_patch4_window7_224")
MEMORY_MODEL, MEMORY_SIDE = "vit_small_patch16_224", 1024
TARGETS = {"captured forward": 1.05, "attention of one block": 0.02, "rollout from one query": 0.10}
"""Largest shares of a plain forward pass"""
MEMORY_TARGET = 0.7
"""Largest memory in GB over the plain forward pass"""


def noise(height: int, width: int) -> np.ndarray:
    """Return an image of noise, uint8 RGB."""
    return np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)


def plain_forward(model: LoadedModel, pixels: torch.Tensor) -> None:
    """Run the plain forward pass."""
    with torch.no_grad():
        model.module(pixels)


class EmptyMode(TorchFunctionMode):
    """Function mode that does nothing: torch's own cost of reporting every function call of a pass."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


def in_empty_mode(model: LoadedModel, pixels: torch.Tensor) -> None:
    """Run the pass in an empty function mode, the lower bound of a captured pass."""
    with EmptyMode():
        plain_forward(model, pixels)


def measure(name: str, rounds: int) -> dict[str, Timing]:
    """Return the times of every row, the plain forward pass first."""
    model = vx.load_model(name, weights="random", device="cpu")
    prepared = prepare(model, noise(*model.preprocessing.input_size), fit="squash")
    captured: Capture = capture_input(model, prepared)
    rows: dict[str, Work] = {
        "plain forward": lambda: plain_forward(model, prepared.tensor),
        "in an empty function mode": lambda: in_empty_mode(model, prepared.tensor),
        "captured forward": lambda: capture_input(model, prepared),
        "attention of one block": lambda: captured.attention(captured.depth // 2),
        "rollout from one query": lambda: vx.compute("attention_rollout", captured),
        "attention map": lambda: vx.compute("attention_map", captured),
    }
    return interleaved(rows, rounds, limit_s=math.inf)


def print_table(title: str, timings: dict[str, Timing], targets: dict[str, float], images: int = 1) -> bool:
    """Print the times of passes of so many images; return True if every target, a largest ratio, is met."""
    met = True
    print(f"\n{title}, {next(iter(timings.values())).rounds} rounds, CPU time of one thread")
    print(f"{'':26}{'ms an image':>12}{'/ plain':>10}{'target':>10}")
    for row, timing in timings.items():
        target = targets.get(row, math.inf)
        met &= timing.median <= target
        goal = f"<= {target:.3f}{'' if timing.median <= target else '  MISSED'}" if row in targets else ""
        print(f"{row:26}{1000 * timing.seconds / images:12.3f}{timing.median:10.4f}   {goal}", flush=True)
    return met


def memory_case(explore: bool) -> Work:
    """Prepare the plain pass, or capture, map and rollout; a case of `fresh`."""
    model = vx.load_model(MEMORY_MODEL, weights="random", device="cpu")
    prepared = prepare(model, noise(MEMORY_SIDE, MEMORY_SIDE), fit="native")

    def exploring() -> None:
        captured = capture_input(model, prepared)
        vx.compute("attention_map", captured)
        vx.compute("attention_rollout", captured)

    return exploring if explore else lambda: plain_forward(model, prepared.tensor)


def print_memory() -> bool:
    """Print the memory table; return True if its target is met."""
    plain, exploring = fresh(memory_case, False), fresh(memory_case, True)
    over = (exploring.grown - plain.grown) / 1e9
    met = over < MEMORY_TARGET and not plain.fell and not exploring.fell
    print(f"\n{MEMORY_MODEL} at {MEMORY_SIDE} x {MEMORY_SIDE}, peak memory over the loaded model, GB")
    print(f"{'plain forward':40}{plain.grown / 1e9:8.2f} {plain.fell}")
    print(f"{'capture, attention map and rollout':40}{exploring.grown / 1e9:8.2f} {exploring.fell}")
    print(f"{'over the plain forward':40}{over:8.2f}   < {MEMORY_TARGET}{'' if met else '  MISSED'}")
    return met


def main(rounds: Annotated[int, typer.Option(help="Counted rounds.")] = 15) -> None:
    """Print the tables; exit with 1 if a target is missed."""
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, {os.cpu_count()} CPUs")
    met = [print_table(name, measure(name, rounds), TARGETS) for name in SPEED_MODELS]
    if not all([*met, print_memory()]):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
