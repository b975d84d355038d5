"""Intervals of a run's metric against their slow twins."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vitexplorer.finetune.results.interval import metric_interval

Z = 1.959963984540054


@pytest.mark.parametrize(("right", "images"), [(0, 1), (1, 1), (36, 40), (40, 40)])
def test_an_accuracy_has_wilsons_interval(right: int, images: int) -> None:
    targets = np.zeros(images, int)
    outputs = np.eye(2)[[0] * right + [1] * (images - right)]
    share = right / images
    middle = (share + Z**2 / (2 * images)) / (1 + Z**2 / images)
    half = Z / (1 + Z**2 / images) * math.sqrt(share * (1 - share) / images + Z**2 / (4 * images**2))
    assert metric_interval("classification", outputs, targets) == pytest.approx((middle - half, middle + half))


def test_an_error_has_the_bootstraps_interval() -> None:
    rng = np.random.default_rng(1)
    targets, outputs = rng.normal(size=20), rng.normal(size=20)
    errors = []
    for draw in np.random.default_rng(3).integers(20, size=(50, 20)):
        errors.append(math.sqrt(sum((outputs[i] - targets[i]) ** 2 for i in draw) / 20))
    expected = tuple(np.quantile(errors, [0.025, 0.975]))
    assert metric_interval("regression", outputs, targets, draws=50, seed=3) == pytest.approx(expected)
    assert np.isnan(metric_interval("regression", outputs[:1], targets[:1])).all()
