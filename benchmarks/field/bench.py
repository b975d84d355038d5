"""Settings of a run of the benchmark: device, precision, limits, and the store of measurements."""

from __future__ import annotations

import inspect
import json
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

import torch
from pydantic import TypeAdapter

from benchmarks.field.fresh import Peak
from benchmarks.field.peers import versions
from benchmarks.field.timing import Timing, Work, interleaved
from vitexplorer.storage.atomic_writes import replace_bytes

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]
OURS = ("vitexplorer/**/*.py",)
"""All files of the package"""
PARTS = ("core", "tracing", "controls", "models", "capturing", "quantities", "interventions", "views")
ENGINE = ("vitexplorer/survey/memory.py", *(f"vitexplorer/{part}/**/*.py" for part in PARTS))
"""Files that captures and views depend on, without the page and fine-tuning"""
TUNING = (*ENGINE, "vitexplorer/finetune/**/*.py")


@dataclass(frozen=True)
class Bench:
    """One run of the benchmark."""

    device: str = "cpu"
    dtype: str = "float32"
    """Precision of weights and activations"""
    quick: bool = False
    """Run the smallest case of everything only"""
    folder: Path = Path("runs/field")
    """Folder of stored measurements"""
    rounds: int = 15
    limit_s: float = 40.0
    """Seconds after which a cell begins no further round"""

    @property
    def on_gpu(self) -> bool:
        return self.device.startswith("cuda")

    def bytes_of(self, peak: Peak) -> int:
        """Return the memory of a case on this run's device."""
        return peak.gpu if self.on_gpu else peak.grown

    def megabytes(self, peak: Peak) -> int | str:
        """Return the cell of a case's memory: whole megabytes, or why it could not finish."""
        return peak.fell or round(self.bytes_of(peak) / 1e6)

    def interleaved(self, ways: dict[str, Work], rounds: int | None = None, warmup: int = 2) -> dict[str, Timing]:
        """Run `timing.interleaved` with this run's clock and limits."""
        gpu = {"clock": time.perf_counter, "synchronize": torch.cuda.synchronize} if self.on_gpu else {}
        count, warmup = (2, 1) if self.quick else (rounds or self.rounds, warmup)
        return interleaved(ways, count, warmup, self.limit_s, **gpu)

    def cell(self, key: str, kind: type[T], measure: Callable[[], T], of: tuple[str, ...] = ENGINE) -> T:
        """Return the result of `measure`, from the folder if it is stored.

        Args:
            key: name of the measurement, unique in its module.
            kind: the type of the result, which pydantic can write and read.
            measure: called if no result is stored.
            of: globs of the files that, with the module of `measure`, invalidate a stored result when they change.
        """
        module = inspect.getmodule(measure.func if isinstance(measure, partial) else measure)
        own = Path(module.__file__) if module and module.__file__ else Path(__file__)
        form = TypeAdapter(kind)
        identity = json.dumps([key, self.device, self.dtype, self.quick, self.rounds, self.limit_s, versions()])
        name = f"{zlib.crc32(identity.encode()):08x}-{_checksum(own, of):08x}.json"
        file = self.folder / own.stem / name
        if file.is_file():
            return form.validate_json(file.read_bytes())
        answer = measure()
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_bytes(file, form.dump_json(answer), is_durable=False)
        return answer


@cache
def _checksum(own: Path, globs: tuple[str, ...]) -> int:
    files = [own, *sorted(file for pattern in globs for file in ROOT.glob(pattern))]
    checksum = 0
    for file in files:
        checksum = zlib.crc32(file.read_bytes(), checksum)
    return checksum
