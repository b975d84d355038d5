"""Images to fine-tune on, by path, with the target of each; no pixels are held."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from vitexplorer.storage.findings import Finding

Task = Literal["classification", "regression"]


class Item(NamedTuple):
    """One image."""

    path: str
    """Relative to the dataset's root, with slashes"""
    target: int | float
    """Index of its class, or the number to predict"""


@dataclass(frozen=True)
class Dataset:
    """Images with a class or a number each, in a fixed order: sorted by path."""

    root: Path
    items: tuple[Item, ...]
    task: Task
    classes: tuple[str, ...] = ()
    """Names in the order of the targets; empty for regression"""
    target_name: str = ""
    """The table's column that the targets come from; empty for class folders"""
    findings: tuple[Finding, ...] = ()
    """Findings from reading, above all on what was left out"""
    groups: tuple[int, ...] | None = None
    """Number of each item's group of duplicates, set by `inspect`; a split keeps groups together"""

    def __len__(self) -> int:
        return len(self.items)

    def path(self, index: int) -> Path:
        """Return the path of image number `index`."""
        return self.root / self.items[index].path

    @property
    def targets(self) -> np.ndarray:
        """(items,) int64 classes or float64 numbers."""
        dtype = np.int64 if self.task == "classification" else np.float64
        return np.array([item.target for item in self.items], dtype)

    @property
    def counts(self) -> np.ndarray:
        """(classes,) int64: images of each class; empty for regression."""
        classes = self.targets if self.classes else np.zeros(0, np.int64)
        return np.bincount(classes, minlength=len(self.classes))

    @property
    def digest(self) -> str:
        """SHA-256 of task, classes, paths and targets, 64 hexadecimal digits: the same for the same data anywhere."""
        digest = hashlib.sha256(repr((self.task, self.classes)).encode())
        for item in self.items:
            digest.update(os.fsencode(f"{item.path}\0{item.target!r}\n"))
        return digest.hexdigest()

    def only(self, indices: Sequence[int]) -> Dataset:
        """Select items, in this order; classes keep their numbers."""
        groups = None if self.groups is None else tuple(self.groups[i] for i in indices)
        return replace(self, items=tuple(self.items[i] for i in indices), groups=groups)
