"""New heads: fresh, or started from the baseline."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.helpers.small_models import load_small
from vitexplorer.finetune.attaching import attach
from vitexplorer.finetune.parts.heads import begin_with
from vitexplorer.finetune.results.baseline import Features, fit_baseline
from vitexplorer.finetune.results.metrics import scores


@pytest.mark.parametrize("normed", [False, True], ids=["plain", "normed"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_head_begins_as_the_baseline(classes, normed):
    """The head's softmax equals the regression's probabilities, even for a class without images."""
    rng = np.random.default_rng(0)
    targets = np.arange(60) % classes
    values = (np.eye(48)[targets] * 3 + rng.normal(size=(60, 48)) + 1).astype(np.float32)
    train = Features(values[:45], targets[:45])
    baseline, head = fit_baseline("classification", classes + 1, train, Features(values[45:], targets[45:]))
    tuned = attach(load_small("vit"), "linear", classes + 1, norm=normed)
    parts = (torch.as_tensor(part, dtype=torch.float32) for part in (head.weight, head.bias, head.centre, head.spread))
    assert begin_with(tuned.module, *parts)
    with torch.no_grad():
        answers = tuned.module.get_submodule("head")(torch.as_tensor(values[45:])).softmax(-1)[:, :classes]
    own = scores("classification", answers.double().numpy(), targets[45:])
    assert [own[name] for name in ("accuracy", "macro_f1")] == [baseline.metrics[n] for n in ("accuracy", "macro_f1")]


def test_a_deeper_head_begins_fresh():
    tuned = attach(load_small("vit"), "mlp_k", 3)
    ones = torch.ones(48)
    assert not begin_with(tuned.module, torch.ones(3, 48), torch.ones(3), ones, ones)
