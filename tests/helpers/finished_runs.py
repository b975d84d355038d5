"""Finished runs of a training, compared bit for bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

from vitexplorer.finetune.comparison import load_comparison
from vitexplorer.finetune.job.folder import run_folder


def tuned_tensors(folder: Path, run: str) -> dict[str, torch.Tensor]:
    return load_file(run_folder(folder, run) / "tuned.safetensors")


def assert_same_run(one: Path, other: Path, run: str) -> None:
    """Compare the weights of the kept epoch, the predictions and every number of every epoch bit for bit."""
    ours, theirs = tuned_tensors(one, run), tuned_tensors(other, run)
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(tensor, theirs[name]) for name, tensor in ours.items())
    a, b = load_comparison(one)[run], load_comparison(other)[run]
    assert np.array_equal(a.outputs, b.outputs)
    assert [(e.train_loss, dict(e.metrics)) for e in a.epochs] == [(e.train_loss, dict(e.metrics)) for e in b.epochs]
