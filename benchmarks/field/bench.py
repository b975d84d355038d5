"""What every section is given: where to measure, how long, and a place for what was measured already."""

from __future__ import annotations

import inspect
import json
import os
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

import torch
from pydantic import TypeAdapter

from benchmarks.field.peers import versions
from benchmarks.field.timing import Timing, Work, interleaved

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]
OURS = ("vitexplorer/**/*.py",)
"""all that the package is"""
ENGINE = (
    "vitexplorer/*.py",
    "vitexplorer/survey/memory.py",
    *(f"vitexplorer/{part}/**/*.py" for part in ("controls", "interventions", "models", "quantities", "views")),
)
"""what captures and views are made of; neither the page nor a training"""
TUNING = (*ENGINE, "vitexplorer/finetune/**/*.py")


@dataclass(frozen=True)
class Bench:
    """One run of the benchmark."""

    device: str = "cpu"
    dtype: str = "float32"
    """of weights and activations"""
    quick: bool = False
    """the smallest case of everything, to see that it runs"""
    folder: Path = Path("runs/field")
    """where what was measured lies"""
    rounds: int = 15
    limit_s: float = 40.0
    """seconds after which a cell begins no further round"""

    @property
    def on_gpu(self) -> bool:
        return self.device.startswith("cuda")

    def interleaved(self, ways: dict[str, Work], rounds: int | None = None, warmup: int = 2) -> dict[str, Timing]:
        """`timing.interleaved` with this run's clock and limits."""
        gpu = {"clock": time.perf_counter, "synchronize": torch.cuda.synchronize} if self.on_gpu else {}
        asked, warmup = (2, 1) if self.quick else (rounds or self.rounds, warmup)
        return interleaved(ways, asked, warmup, self.limit_s, **gpu)

    def cell(self, key: str, kind: type[T], measure: Callable[[], T], of: tuple[str, ...] = ENGINE) -> T:
        """What `measure` returns, from the folder if it was measured before.

        Args:
            key: what is measured, unique in the module that asks.
            kind: the type of the answer, which pydantic can write and read.
            measure: is asked where nothing lies there.
            of: globs of the files that, with the module of `measure`, decide whether it is the same measurement.
        """
        module = inspect.getmodule(measure)
        own = Path(module.__file__) if module and module.__file__ else Path(__file__)
        form = TypeAdapter(kind)
        said = json.dumps([key, self.device, self.dtype, self.quick, self.rounds, self.limit_s, versions()])
        name = f"{zlib.crc32(said.encode()):08x}-{_bytes_of(own, of):08x}.json"
        file = self.folder / own.stem / name
        if file.is_file():
            return form.validate_json(file.read_bytes())
        answer = measure()
        file.parent.mkdir(parents=True, exist_ok=True)
        beside = file.with_suffix(f".{os.getpid()}.tmp")
        beside.write_bytes(form.dump_json(answer))
        beside.replace(file)
        return answer


@cache
def _bytes_of(own: Path, globs: tuple[str, ...]) -> int:
    files = [own, *sorted(file for pattern in globs for file in ROOT.glob(pattern))]
    found = 0
    for file in files:
        found = zlib.crc32(file.read_bytes(), found)
    return found
