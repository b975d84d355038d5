"""Recorded sizes of a training's first updates."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from vitexplorer.finetune.job.folder import UPDATES
from vitexplorer.finetune.training.updates import is_recorded, recorded


@pytest.mark.parametrize(
    ("steps", "warmup", "expected"),
    [(100, 0.1, [0, 10, 11, 12, 13, 14]), (3, 0.1, [0, 1, 2]), (1, 0.0, [0]), (40, 0.0, [0, 1, 2, 3, 4])],
)
def test_the_first_step_and_those_at_the_peak_are_recorded(steps: int, warmup: float, expected: list[int]) -> None:
    assert [step for step in range(steps) if is_recorded(step, steps, warmup)] == expected


def moved(parameters: dict[str, torch.Tensor], step: int, folder: Path, by: float) -> None:
    with recorded(parameters, step, folder, ["weight"]):
        parameters["weight"].add_(by)


def test_sizes_are_those_of_the_change(tmp_path: Path) -> None:
    parameters = {"weight": torch.full((4, 4), 0.5), "still": torch.zeros(3)}
    moved(parameters, 0, tmp_path, 0.25)
    moved(parameters, 1, tmp_path, math.inf)
    first, second = UPDATES.read(tmp_path).steps
    assert (first.step, second.step) == (0, 1)
    assert first.sizes == {"weight": (1.0, 2.0), "still": (0.0, 0.0)}
    assert second.sizes["weight"] == (math.inf, 3.0)
    assert UPDATES.read(tmp_path).fresh == ("weight",)


def test_a_repeated_step_replaces_what_was_recorded(tmp_path: Path) -> None:
    parameters = {"weight": torch.ones(1)}
    for step, by in ((0, 1.0), (1, 2.0), (0, 3.0)):
        moved(parameters, step, tmp_path, by)
    assert [(update.step, update.sizes["weight"][0]) for update in UPDATES.read(tmp_path).steps] == [(0, 3.0)]


def test_a_damaged_record_does_not_stop_a_training(tmp_path: Path) -> None:
    (tmp_path / UPDATES.name).write_text("{")
    moved({"weight": torch.ones(1)}, 2, tmp_path, 1.0)
    assert [update.step for update in UPDATES.read(tmp_path).steps] == [2]
