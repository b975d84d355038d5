"""Metrics of classes and numbers, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vitexplorer.finetune.results.metrics import confusion, pareto_front, per_class, scores


def test_metrics_of_classes_by_hand():
    probabilities = np.array([[0.8, 0.2, 0.0], [0.6, 0.4, 0.0], [0.1, 0.9, 0.0], [0.7, 0.2, 0.1]])
    targets = np.array([0, 0, 1, 2])
    metrics = scores("classification", probabilities, targets)
    assert metrics["accuracy"] == 0.75
    assert metrics["balanced_accuracy"] == pytest.approx((1 + 1 + 0) / 3)
    assert metrics["macro_f1"] == pytest.approx((0.8 + 1 + 0) / 3)  # class 0: precision 2/3, recall 1
    table = per_class(probabilities, targets, ("a", "b", "c"))
    assert table.precision.tolist() == pytest.approx([2 / 3, 1, 0])
    assert table.support.tolist() == [2, 1, 1]
    assert confusion(probabilities, targets).tolist() == [[2, 0, 0], [0, 1, 0], [1, 0, 0]]


def test_a_class_that_is_predicted_but_absent_counts_in_the_mean_f1():
    """Class 0: precision 1, recall 1/2; class 1: both 1; class 2 has no image: 0."""
    probabilities = np.eye(3)[[0, 2, 1]]
    metrics = scores("classification", probabilities, np.array([0, 0, 1]))
    assert metrics["macro_f1"] == pytest.approx((2 / 3 + 1 + 0) / 3)


def test_outputs_that_are_no_numbers_have_no_metrics():
    probabilities = np.array([[np.nan, np.nan], [0.9, 0.1]])
    assert all(map(math.isnan, scores("classification", probabilities, np.array([0, 0])).values()))


def test_metrics_of_numbers_by_hand():
    metrics = scores("regression", np.array([1.0, 2.0, 6.0]), np.array([1.0, 2.0, 3.0]))
    assert metrics["rmse"] == pytest.approx(math.sqrt(3))
    assert metrics["mae"] == 1
    assert metrics["r2"] == pytest.approx(1 - 9 / 2)


def test_the_front_by_hand():
    #                 cheap good, dearer better, dearer worse, same as the first, nothing known
    values, costs = [0.8, 0.9, 0.85, 0.8, math.nan], [1, 2, 3, 1, 0]
    assert pareto_front("accuracy", values, costs).tolist() == [True, True, False, True, False]
    assert pareto_front("rmse", [5, 4, 6], [1, 1, 0]).tolist() == [False, True, True]
