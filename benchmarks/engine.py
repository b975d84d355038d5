"""Cost of capture, attention and rollout, relative to the plain forward pass of the same model.

    python benchmarks/engine.py [--rounds 15]

Every round runs all rows of a model one after the other, and a row's number is the median over the rounds of its time
divided by the plain forward pass of the same round, so that whatever else the machine does falls on both. Times are
CPU time of one thread, with random weights: neither changes the arithmetic. Memory is the peak resident size of a
fresh process each, with the plain pass in one and the exploring in the other.
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ["OMP_NUM_THREADS"] = "1"  # before torch

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

import vitexplorer as vx
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


def seconds(work: Callable[[], object]) -> float:
    """Return the CPU time of one run."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(name: str, rounds: int) -> dict[str, list[float]]:
    """Return CPU seconds of every row in every round, the plain forward pass first."""
    model = vx.load_model(name, weights="random", device="cpu")
    prepared = prepare(model, noise(*model.preprocessing.input_size), fit="squash")
    captured: Capture = capture_input(model, prepared)
    rows: dict[str, Callable[[], object]] = {
        "plain forward": lambda: plain_forward(model, prepared.tensor),
        "in an empty function mode": lambda: in_empty_mode(model, prepared.tensor),
        "captured forward": lambda: capture_input(model, prepared),
        "attention of one block": lambda: captured.attention(captured.depth // 2),
        "rollout from one query": lambda: vx.compute("attention_rollout", captured),
        "attention map": lambda: vx.compute("attention_map", captured),
    }
    times: dict[str, list[float]] = {row: [] for row in rows}
    for turn in range(rounds + 2):
        for row, work in reversed(rows.items()) if turn % 2 else rows.items():
            gc.collect()
            spent = seconds(work)
            if turn >= 2:  # the first ones warm up
                times[row].append(spent)
    return times


def print_speed(name: str, times: dict[str, list[float]]) -> bool:
    """Print one table; return True if every target is met."""
    met = True
    print(f"\n{name}, {len(times['plain forward'])} rounds, CPU time of one thread")
    print(f"{'':26}{'median ms':>10}{'/ plain':>10}{'target':>10}")
    for row, spent in times.items():
        ratio = median(a / b for a, b in zip(spent, times["plain forward"], strict=True))
        target = TARGETS.get(row)
        met &= target is None or ratio <= target
        goal = "" if target is None else f"<= {target:g}{'' if ratio <= target else '  MISSED'}"
        print(f"{row:26}{1000 * median(spent):10.2f}{ratio:10.4f}   {goal}")
    return met


def peak(task: str) -> float:
    """Return the peak resident GB of a process that does nothing but `task`."""
    command = [sys.executable, __file__, "--task", task]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout) / 1e9


def run_task(task: str) -> None:
    """Run the plain pass, or capture, map and rollout, in this process and print its peak memory in bytes."""
    model = vx.load_model(MEMORY_MODEL, weights="random", device="cpu")
    image = noise(MEMORY_SIDE, MEMORY_SIDE)
    if task == "plain":
        plain_forward(model, prepare(model, image, fit="native").tensor)
    else:
        captured = vx.capture(model, image, fit="native")
        vx.compute("attention_map", captured)
        vx.compute("attention_rollout", captured)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


def print_memory() -> bool:
    """Print the memory table; return True if its target is met."""
    plain, exploring = peak("plain"), peak("explore")
    over = exploring - plain
    print(f"\n{MEMORY_MODEL} at {MEMORY_SIDE} x {MEMORY_SIDE}, peak resident memory of a process, GB")
    print(f"{'plain forward':40}{plain:8.2f}")
    print(f"{'capture, attention map and rollout':40}{exploring:8.2f}")
    print(f"{'over the plain forward':40}{over:8.2f}   < {MEMORY_TARGET}{'' if over < MEMORY_TARGET else '  MISSED'}")
    return over < MEMORY_TARGET


def main() -> int:
    """Print the tables; return 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--task", choices=("plain", "explore"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.task:
        run_task(options.task)
        return 0
    print(f"torch {torch.__version__}, {os.cpu_count()} CPUs")
    met = [print_speed(name, measure(name, options.rounds)) for name in SPEED_MODELS]
    return 0 if all([*met, print_memory()]) else 1


if __name__ == "__main__":
    sys.exit(main())
