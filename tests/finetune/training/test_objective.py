"""Objectives: balanced classes, scaled numbers, losses that do not fit the task."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from vitexplorer.core.text import SettingError
from vitexplorer.finetune.job.plan import Plan
from vitexplorer.finetune.training.objective import objective_for


def test_balanced_classes_weigh_the_same_together():
    targets = np.array([0, 0, 0, 1])
    objective = objective_for("classification", 2, targets, Plan(class_weights="balanced"))
    weights = objective.weights(targets)
    assert weights[targets == 0].sum() == pytest.approx(weights[targets == 1].sum())
    assert weights.sum() == pytest.approx(len(targets))


def test_numbers_come_back_from_outputs():
    targets = np.array([10.0, 20.0, 90.0])
    mse, bce = (objective_for("regression", 1, targets, Plan(loss=loss)) for loss in ("mse", "bce"))
    standardised = torch.tensor((targets - targets.mean()) / targets.std())[:, None]
    assert mse.readable(standardised).numpy() == pytest.approx(targets)
    assert float(mse.losses(standardised, torch.tensor(targets)).max()) == pytest.approx(0, abs=1e-9)
    assert bce.readable(torch.tensor([[-99.0], [0.0], [99.0]])).tolist() == pytest.approx([10, 50, 90])
    right, wrong = (float(bce.losses(torch.tensor([[x]]), torch.tensor([50.0]))[0]) for x in (0.0, 3.0))
    assert right < wrong


def test_a_loss_that_does_not_fit_is_refused():
    with pytest.raises(SettingError, match="bce"):
        objective_for("classification", 2, np.array([0, 1]), Plan(loss="bce"))
