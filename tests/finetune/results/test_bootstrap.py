"""The paired bootstrap against its slow twin."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vitexplorer.core.text import SettingError
from vitexplorer.finetune.results.bootstrap import paired_bootstrap


def test_the_bootstrap_agrees_with_its_slow_twin():
    rng = np.random.default_rng(1)
    targets = rng.normal(size=30)
    a, b = targets + rng.normal(size=30) * 0.5, targets + rng.normal(size=30)
    interval = paired_bootstrap("regression", targets, ("a", a), ("b", b), draws=50, seed=7)
    draws, differences = np.random.default_rng(7).integers(30, size=(50, 30)), []
    for draw in draws:
        rmse_a = math.sqrt(sum((a[i] - targets[i]) ** 2 for i in draw) / 30)
        rmse_b = math.sqrt(sum((b[i] - targets[i]) ** 2 for i in draw) / 30)
        differences.append(rmse_b - rmse_a)
    assert interval.share == np.mean(np.array(differences) > 0)
    assert (interval.low, interval.high) == pytest.approx(tuple(np.quantile(differences, [0.025, 0.975])))


def test_the_bootstrap_sees_what_is_clear_and_what_is_not():
    targets = np.arange(40) % 2
    right, wrong = np.eye(2)[targets], np.eye(2)[1 - targets]
    clear = paired_bootstrap("classification", targets, ("a", right), ("b", wrong))
    assert (clear.difference, clear.low, clear.share) == (1, 1, 1)
    assert clear.verdict.en.startswith("a is better than b")
    same = paired_bootstrap("classification", targets, ("a", right), ("b", right))
    assert (same.difference, same.share) == (0, 0.5)
    assert "cannot tell" in same.verdict.en
    back = paired_bootstrap("classification", targets, ("b", wrong), ("a", right))
    assert back.verdict.en.startswith("a is better than b")
    with pytest.raises(SettingError):
        paired_bootstrap("classification", targets, ("a", right), ("b", wrong[:-1]))
