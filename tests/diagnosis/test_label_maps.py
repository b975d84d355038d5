"""Maps of labels to classes: assignment, usual mistakes, and what chance makes."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from vitexplorer.diagnosis.label_maps import assignment, best_map, is_above_chance, is_gain, mapped_labels, named_maps

CLASSES = 5


def labels_and_answers(right: float, count: int = 200, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return labels, and answers of which a share is right and the others are any class."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(CLASSES, size=count)
    return labels, np.where(rng.random(count) < right, labels, rng.integers(CLASSES, size=count))


def test_the_assignment_agrees_with_most_answers_of_all_permutations() -> None:
    labels, answers = labels_and_answers(0.6, count=40)
    given = np.array([3, 0, 4, 1, 2])[labels]
    best = max(permutations(range(CLASSES)), key=lambda order: (np.array(order)[given] == answers).sum())
    assert assignment(answers, given, CLASSES) == best


def test_a_permutation_is_undone() -> None:
    labels, answers = labels_and_answers(0.8)
    order = np.array([3, 0, 4, 1, 2])
    found = best_map(answers, order[labels], CLASSES)
    assert found.is_sure
    assert (mapped_labels(order[labels], found.classes) == labels).all()
    assert found.accuracy > 0.7 > (answers == order[labels]).mean()


@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_made_of_chance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels, answers = rng.integers(CLASSES, size=(2, 60))
    assert not best_map(answers, labels, CLASSES).is_sure
    right, sure = labels_and_answers(0.9, seed=seed)
    assert not best_map(sure, right, CLASSES).is_sure


def test_usual_mistakes_are_undone() -> None:
    maps = named_maps(12, ())
    as_text = sorted(range(12), key=str)  # 0, 1, 10, 11, 2, ...: the folders of a loader that sorts names
    believed = [as_text.index(number) for number in range(12)]
    assert any([order[label] for label in believed] == list(range(12)) for order in maps["labels_sorted_as_text"])
    assert any([order[label] for label in range(1, 12)] == list(range(11)) for order in maps["labels_shifted"])


def test_chance_is_that_of_the_commonest_label() -> None:
    labels = np.array([0] * 19 + [1])
    assert not is_above_chance(0.95, labels)
    assert is_above_chance(0.9, np.arange(20) % 5)
    assert not is_above_chance(0.25, np.arange(20) % 5)


def test_one_answer_to_all_pictures_is_no_map() -> None:
    """Of 50 labels 40 are one class: mapping it to the one answer agrees in 80 %, and says nothing."""
    labels = np.array([2] * 40 + [0, 1, 3, 4] * 2 + [0, 1])
    answers = np.full(50, 3)
    assert not best_map(answers, labels, CLASSES).is_sure
    assert not is_gain(answers, labels, labels + 1)
    assert is_gain((labels + 1) % CLASSES, labels, (labels + 1) % CLASSES)
