"""Faults in the labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from benchmarks.planted.case import Case, Fault


def _permuted(case: Case, rng: np.random.Generator) -> Case:
    order = rng.permutation(case.model.num_classes)
    return replace(case, labels=tuple(int(order[label]) for label in case.labels))


def _shifted(case: Case, rng: np.random.Generator) -> Case:
    by = int(rng.choice([-1, 1]))
    return replace(case, labels=tuple(label + by for label in case.labels))


def _sorted_as_text(case: Case, rng: np.random.Generator) -> Case:
    as_text = sorted(range(case.model.num_classes), key=str)
    return replace(case, labels=tuple(as_text.index(label) for label in case.labels))


def _mistaken(share: float) -> Fault:
    """Give a share of the pictures the label of another class."""

    def plant(case: Case, rng: np.random.Generator) -> Case:
        labels = list(case.labels)
        for at in rng.choice(len(labels), round(share * len(labels)), replace=False):
            others = [label for label in sorted(set(case.labels)) if label != labels[at]]
            labels[at] = int(rng.choice(others))
        return replace(case, labels=tuple(labels))

    return plant


def _of_classes(plant: Fault) -> Fault:
    """Leave out models without classes."""
    return lambda case, rng: plant(case, rng) if case.model.num_classes else None


LABELS: Mapping[str, tuple[Fault, ...]] = {
    "labels_permuted": (_of_classes(_permuted),),
    "labels_shifted": (_of_classes(_shifted),),
    "labels_sorted_as_text": (_of_classes(_sorted_as_text),),
    "labels_doubtful": (_of_classes(_mistaken(0.08)), _of_classes(_mistaken(0.2))),
}
"""Ways to plant each cause, mild before gross"""
