"""Seeded, stratified split into training and validation images, with duplicates on one side.

Groups of duplicates are drawn in the order of SHA-256(seed, path), which is the same on every machine and in every
version; adding an image moves no other image to the other side except by the rounding of its class. scikit-learn's
stratified splits refuse classes with one image, do not support groups, or only divide into k equal folds.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from vitexplorer.core.text import SettingError, Text
from vitexplorer.storage.dataset import Dataset
from vitexplorer.storage.findings import DataError

MOST_STRATA = 10
"""Most ranges of equal count that the targets of a regression are divided into"""
_LEAST_IN_A_STRATUM = 5


@dataclass(frozen=True)
class Split:
    """Indices into a dataset's items, ascending, each on one side."""

    train: tuple[int, ...]
    validation: tuple[int, ...]
    seed: int
    share: float
    """Requested share of validation images, 0-1"""


def split(dataset: Dataset, seed: int = 0, share: float = 0.2) -> Split:
    """Set `share` of every class (or range of numbers) aside for validation, to the nearest image.

    A class of two or more images has at least one on each side, unless all of them are duplicates of each other.
    Groups come from `inspect`, so split the report's dataset; without groups every image is its own group.
    Raises SettingError for a share outside 0-1, DataError if one side stays empty.
    """
    if not 0 < share < 1:
        raise SettingError(_SHARE.format(share=share))
    validation: set[int] = set()
    strata: dict[int, list[list[int]]] = defaultdict(list)
    strata_of = _strata(dataset).tolist()
    for group in _groups(dataset):
        commonest = Counter(strata_of[i] for i in group).most_common(1)[0][0]
        strata[commonest].append(group)
    for groups in strata.values():
        validation.update(_drawn(dataset, groups, seed, share))
    train = tuple(i for i in range(len(dataset)) if i not in validation)
    if not train or not validation:
        raise DataError(_EMPTY_SIDE)
    return Split(train, tuple(sorted(validation)), seed, share)


_SHARE = Text(
    "The share for validation is {share}; it must lie between 0 and 1.", "验证集比例为 {share}；必须在 0 与 1 之间。"
)
_EMPTY_SIDE = Text(
    "The images cannot be split into training and validation sets: too few of them differ. Add images.",
    "无法将图像划分为训练集和验证集：互不相同的图像太少。请添加图像。",
)


def _strata(dataset: Dataset) -> np.ndarray:
    """Return the stratum of each item, int (items,): its class, or the range of equal count that its number lies in."""
    targets = dataset.targets
    if dataset.task == "classification":
        return targets
    count = max(1, min(MOST_STRATA, len(targets) // _LEAST_IN_A_STRATUM))
    return np.digitize(targets, np.unique(np.quantile(targets, np.linspace(0, 1, count + 1)))[1:-1])


def _groups(dataset: Dataset) -> list[list[int]]:
    numbers = range(len(dataset)) if dataset.groups is None else dataset.groups
    groups: dict[int, list[int]] = defaultdict(list)
    for i, number in enumerate(numbers):
        groups[number].append(i)
    return list(groups.values())


def _drawn(dataset: Dataset, groups: list[list[int]], seed: int, share: float) -> list[int]:
    """Draw the validation items of one stratum: whole groups in hash order, as long as they fit."""
    images = sum(map(len, groups))
    target_size = min(max(round(share * images), 1), images - 1)
    order = sorted(groups, key=lambda group: _place(dataset.items[group[0]].path, seed))
    drawn: list[int] = []
    for group in order:
        if len(drawn) + len(group) <= target_size:
            drawn += group
    if not drawn and len(groups) > 1:  # every group is larger than the target size
        drawn = list(min(order, key=len))
    return drawn


def _place(path: str, seed: int) -> bytes:
    return hashlib.sha256(os.fsencode(f"{seed}\0{path}")).digest()
