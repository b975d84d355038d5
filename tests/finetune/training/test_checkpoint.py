"""Training checkpoints: everything is restored, and a full disk leaves the old one."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
import torch

from tests.helpers.small_models import load_small
from vitexplorer.finetune.attaching import attach
from vitexplorer.finetune.job.folder import CHECKPOINTS
from vitexplorer.finetune.trained_parts import parameter_groups, train_mode, trainable
from vitexplorer.finetune.training import checkpoint as checkpoints
from vitexplorer.finetune.training.checkpoint import TrainingState, load_checkpoint, save_checkpoint
from vitexplorer.models.seeding import seeded
from vitexplorer.storage.atomic_writes import DiskFullError


def _stepped(seed: int):
    """Return a tuned model and its optimiser after one step on noise."""
    tuned = attach(load_small("vit"), "adaptformer", 5, seed=seed)
    optimiser = torch.optim.AdamW(parameter_groups(tuned))
    train_mode(tuned)
    tuned.module(torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(seed))).square().sum().backward()
    optimiser.step()
    return tuned, optimiser


def test_a_checkpoint_brings_everything_back(tmp_path):
    with seeded(0):
        tuned, optimiser = _stepped(0)
        save_checkpoint(tmp_path, tuned.module, optimiser, TrainingState(step=7))
        drawn = torch.rand(3)
        other, its = _stepped(1)
        assert load_checkpoint(tmp_path / CHECKPOINTS[0], other.module, its) == TrainingState(step=7)
        assert torch.equal(torch.rand(3), drawn)
    for name, parameter in trainable(tuned.module).items():
        assert torch.equal(parameter, trainable(other.module)[name])
    ours, theirs = optimiser.state_dict(), its.state_dict()
    assert ours["param_groups"] == theirs["param_groups"]
    for index, state in ours["state"].items():
        assert all(torch.equal(value, theirs["state"][index][name]) for name, value in state.items())


def test_a_full_disk_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    tuned, optimiser = _stepped(0)
    path = tmp_path / CHECKPOINTS[0]
    save_checkpoint(tmp_path, tuned.module, optimiser, TrainingState(step=1))
    before = path.read_bytes()

    def full(tensors, place, header):
        Path(place).write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(checkpoints, "save_tensors", full)
    with pytest.raises(DiskFullError, match="disk is full"):
        save_checkpoint(tmp_path, tuned.module, optimiser, TrainingState(step=2))
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
