"""Maps from believed labels to a model's classes: assignment of the confusion matrix, shifts, and text order.

The best map is the assignment of labels to classes that most answers agree with (Kuhn 1955, "The Hungarian method for
the assignment problem"), solved by SciPy. Its accuracy is measured on pictures that it was not made from: each half of
the pictures by the map of the other half.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

Labels = Int[np.ndarray, " images"]
UNLIKELY = 1e-4
"""Probability of a chance result below which a map is believed"""


@dataclass(frozen=True)
class LabelMap:
    """A class for each label, and how well it fits."""

    classes: tuple[int, ...]
    """Class of label 0, 1, ...; a label outside keeps its number"""
    accuracy: float
    """Share of answers that agree with the mapped labels, on pictures that the map was not made from"""
    is_sure: bool
    """True if the gain is no chance result"""


def mapped_labels(labels: Labels, classes: Sequence[int]) -> Labels:
    """Replace label 0, 1, ... by its class; a label outside keeps its number."""
    inside = (labels >= 0) & (labels < len(classes))
    return np.where(inside, np.array(classes)[np.where(inside, labels, 0)], labels)


def is_above_chance(accuracy: float, labels: Labels) -> bool:
    """Return True if an accuracy is more than a model that answers by the commonest label reaches by chance."""
    from scipy.stats import binom  # imported late, so that the page opens sooner

    if not len(labels):
        return False
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    chance = float(max(shares.max() if len(shares) < 4 else (shares**2).sum(), 1 / len(labels)))
    return float(binom.sf(math.ceil(accuracy * len(labels) - 1e-9) - 1, len(labels), min(chance, 1.0))) < 1e-3


def best_map(answers: Labels, labels: Labels, classes: int) -> LabelMap:
    """Find the assignment of labels to classes that most answers agree with."""
    known = (labels >= 0) & (labels < classes)
    answers, labels = answers[known], labels[known]
    if len(labels) < 2 * len(np.unique(labels)) or len(np.unique(labels)) < 2:
        return LabelMap(tuple(range(classes)), 0.0, False)
    even = _alternating(labels)
    mapped = np.empty(len(labels), np.int64)
    for side in (even, ~even):
        mapped[side] = np.array(assignment(answers[~side], labels[~side], classes))[labels[side]]
    whole = assignment(answers, labels, classes)
    return LabelMap(whole, float((answers == mapped).mean()), is_gain(answers, labels, mapped))


def _alternating(labels: Labels) -> np.ndarray:
    """Return True for every second picture of each label."""
    even = np.zeros(len(labels), bool)
    for label in np.unique(labels):
        even[np.flatnonzero(labels == label)[::2]] = True
    return even


def assignment(answers: Labels, labels: Labels, classes: int) -> tuple[int, ...]:
    """Return the class of each label; labels without pictures keep their own where it is free."""
    from scipy.optimize import linear_sum_assignment

    counts = np.zeros((classes, classes))
    np.add.at(counts, (labels, answers), 1)
    counts += 1e-3 * np.eye(classes)
    return tuple(linear_sum_assignment(counts, maximize=True)[1].tolist())


def is_gain(answers: Labels, labels: Labels, mapped: Labels) -> bool:
    """Return True if more answers agree with the mapped labels than by chance, or by one answer to all pictures.

    McNemar's exact test, and a binomial test against the commonest label.
    """
    from scipy.stats import binom, binomtest

    is_right = answers == mapped
    gained = int((is_right & (answers != labels)).sum())
    lost = int((~is_right & (answers == labels)).sum())
    if gained <= lost:
        return False
    by_chance = binomtest(gained, gained + lost, alternative="greater").pvalue
    commonest = np.unique(labels, return_counts=True)[1].max() / len(labels)
    by_one_answer = binom.sf(int(is_right.sum()) - 1, len(labels), commonest)
    return bool(max(by_chance, by_one_answer) < UNLIKELY)


def named_maps(classes: int, names: Sequence[str]) -> dict[str, list[tuple[int, ...]]]:
    """Return the maps that usual mistakes make, by cause."""
    numbers = list(range(classes))
    as_text = sorted(numbers, key=str)
    text_orders = [as_text, _inverse(as_text)]
    if len(names) == classes and len(set(names)) == classes:
        by_name = sorted(numbers, key=lambda number: names[number])
        text_orders += [by_name, _inverse(by_name)]
    identity = tuple(numbers)
    return {
        "labels_shifted": [
            tuple((number + by) % classes if wraps else number + by for number in numbers)
            for by in (-1, 1)
            for wraps in (False, True)
        ],
        "labels_sorted_as_text": [tuple(order) for order in text_orders if tuple(order) != identity],
    }


def _inverse(order: Sequence[int]) -> list[int]:
    return np.argsort(order).tolist()
