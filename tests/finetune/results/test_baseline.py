"""The baseline on frozen features: separable classes, and ridge regression."""

from __future__ import annotations

import numpy as np
import pytest

from vitexplorer.finetune.results.baseline import Features, fit_baseline


def test_the_baseline_separates_what_is_separable():
    rng = np.random.default_rng(0)
    targets = np.arange(60) % 3
    features = (np.eye(8)[targets] * 3 + rng.normal(size=(60, 8))).astype(np.float32)
    train, held = Features(features[:45], targets[:45]), Features(features[45:], targets[45:])
    baseline, _ = fit_baseline("classification", 4, train, held)  # a fourth class has no images
    assert baseline.value > 0.8 > baseline.constant
    assert baseline.learning_curve.images[-1] == 45
    assert baseline.learning_curve.values[-1] == baseline.value
    assert fit_baseline("classification", 4, train, held)[0].metrics == baseline.metrics
    otherwise = Features(features[45:], (targets[45:] + 1) % 3)
    assert fit_baseline("classification", 3, train, otherwise)[0].value < 0.2  # of the held images it learns nothing


def test_the_baseline_of_numbers_is_ridge_regression():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(80, 5)).astype(np.float32)
    targets = features @ np.array([1.0, -2, 0, 0, 3]) + rng.normal(size=80) * 0.1
    train, held = Features(features[:60], targets[:60]), Features(features[60:], targets[60:])
    baseline, head = fit_baseline("regression", 0, train, held)
    predicted = (held.values - head.centre) / head.spread @ head.weight[0] + head.bias
    assert float(np.sqrt(np.mean((predicted - held.targets) ** 2))) == pytest.approx(baseline.metrics["rmse"])
    assert baseline.value < 0.2 < baseline.constant
