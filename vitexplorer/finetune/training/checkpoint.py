"""Checkpoints of a run: everything to resume it exactly, in one file that is replaced atomically.

safetensors, not pickle: a run folder from somebody else cannot run code. Tensors: trained parameters, running
statistics, the optimiser's averages, the generators' states. The header holds progress and metrics as JSON. The
previous file stays too: if the newest is damaged, the run resumes from it, to the same weights.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from vitexplorer.core.text import Text
from vitexplorer.finetune.job.folder import CHECKPOINTS, PREDICTIONS, TUNED
from vitexplorer.finetune.results.records import Epoch
from vitexplorer.finetune.trained_parts import below_prefix, learned, put_back
from vitexplorer.storage.atomic_writes import permitted, replace_file
from vitexplorer.storage.checked_reading import (
    Amount,
    BrokenFileError,
    Count,
    broken,
    parsed,
    read_arrays,
    read_tensors,
    save_tensors,
)

_EARLIER = Text(
    "The training goes on from an earlier state, to the same weights.", "训练从较早的状态继续，最终得到相同的权重。"
)


@dataclass
class TrainingState:
    """Progress of a run: the contents of a checkpoint beside the tensors."""

    step: Count = 0
    """Optimiser steps done"""
    epochs: list[Epoch] = field(default_factory=list)
    best: int = -1
    """Index of the best epoch in `epochs`, -1 for none"""
    seconds: Amount = 0.0
    epoch_loss: float = 0.0
    """Sum of weighted losses in the current epoch"""
    epoch_weight: float = 0.0

    def __post_init__(self):
        if not -1 <= self.best < max(1, len(self.epochs)) or bool(self.epochs) != (self.best >= 0):
            raise ValueError("best")


def save_checkpoint(folder: Path, module: nn.Module, optimiser: Optimizer, state: TrainingState) -> None:
    """Write a new checkpoint; the last one stays as the previous. Raises DiskFullError, with both files intact."""
    tensors = {f"model/{name}": tensor for name, tensor in learned(module).items()}
    for index, averages in optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser/{index}/{name}": torch.as_tensor(value) for name, value in averages.items()}
    tensors["generator/cpu"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["generator/cuda"] = torch.cuda.get_rng_state()
    newest, before = (folder / name for name in CHECKPOINTS)
    header = {"progress": json.dumps(asdict(state))}

    def write(beside: Path) -> None:
        save_tensors(tensors, beside, header)
        with permitted(newest), suppress(FileNotFoundError):
            newest.replace(before)

    replace_file(newest, write)


def load_checkpoint(path: Path, module: nn.Module, optimiser: Optimizer) -> TrainingState:
    """Restore module, optimiser and generators. Raises BrokenFileError before anything is changed."""
    tensors, header = read_tensors(path, _EARLIER)
    state = parsed(TrainingState, header.get("progress", ""), path, _EARLIER)
    if state.best >= 0:  # the best epoch's files must be readable: it may stay the best
        read_tensors(path.with_name(TUNED), _EARLIER)
        read_arrays(path.with_name(PREDICTIONS), ("outputs",), _EARLIER)
    model = below_prefix(tensors, "model/")
    averages: dict[int, dict[str, Tensor]] = {}
    for name, tensor in below_prefix(tensors, "optimiser/").items():
        index, _, entry = name.partition("/")
        averages.setdefault(int(index), {})[entry] = tensor
    if _shapes(model) != _shapes(learned(module)) or "generator/cpu" not in tensors:
        raise broken(path, remedy=_EARLIER)
    put_back(module, model)
    optimiser.load_state_dict({"state": averages, "param_groups": optimiser.state_dict()["param_groups"]})
    torch.set_rng_state(tensors["generator/cpu"])
    if "generator/cuda" in tensors and torch.cuda.is_available():
        torch.cuda.set_rng_state(tensors["generator/cuda"])
    return state


def latest_checkpoint(
    folder: Path, module: nn.Module, optimiser: Optimizer, tell: Callable[[Text], None]
) -> TrainingState | None:
    """Restore the newest readable checkpoint of a run, None if there is none; `tell` receives errors of others."""
    for path in (folder / name for name in CHECKPOINTS):
        if path.exists():
            try:
                return load_checkpoint(path, module, optimiser)
            except BrokenFileError as error:
                tell(error.text)
    return None


def remove_checkpoints(folder: Path) -> None:
    """Delete the checkpoints of a run that has ended."""
    with permitted(folder):
        for name in CHECKPOINTS:
            (folder / name).unlink(missing_ok=True)


def _shapes(tensors: Mapping[str, Tensor]) -> dict[str, torch.Size]:
    return {name: tensor.shape for name, tensor in tensors.items()}
