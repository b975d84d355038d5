"""Interface of pictures with removable parts, which the part-based protocols need.

After FunnyBirds (Hesse et al. 2023, arXiv 2308.06248): a class is a combination of kinds of parts, so the sets of parts
that identify it are known without a model. `Parted` is a structural type; subclassing is not needed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, UInt8


@runtime_checkable
class Parted(Protocol):
    """Picture with removable parts, and the truth about it."""

    @property
    def label(self) -> int:
        """Class of the picture: an index into `classes` and into the outputs of a classifier of such pictures."""

    @property
    def classes(self) -> Sequence[Mapping[str, str]]:
        """Kinds of the parts of each class: part -> kind. All classes have the same parts."""

    @property
    def background(self) -> Sequence[str]:
        """Names of background objects, which belong to no class and can be removed one by one; may be empty."""

    def render(self, without: Collection[str] = ()) -> UInt8[np.ndarray, "height width 3"]:
        """Draw the picture, RGB 0-255, without some parts or background objects; nothing else changes.

        Every call with the same arguments draws the same picture.
        """

    def masks(self) -> Mapping[str, Bool[np.ndarray, "height width"]]:
        """Return the visible pixels of each part and background object in the whole picture; they do not overlap."""


Classes = Sequence[Mapping[str, str]]


def shared_parts(classes: Classes, label: int, other: int) -> frozenset[str]:
    """Return the parts that have the same kind in two classes."""
    return frozenset(part for part, kind in classes[label].items() if classes[other][part] == kind)


def sufficient_parts(classes: Classes, label: int) -> tuple[frozenset[str], ...]:
    """Return the minimal sets of parts that no other class shares completely, small sets first.

    None contains another. Empty if another class has all the same parts.
    """
    alike = [shared_parts(classes, label, other) for other in range(len(classes)) if other != label]
    minimal: list[frozenset[str]] = []
    for size in range(1, len(classes[label]) + 1):
        for chosen in map(frozenset, combinations(sorted(classes[label]), size)):
            if not any(chosen <= common for common in alike) and not any(smaller <= chosen for smaller in minimal):
                minimal.append(chosen)
    return tuple(minimal)


def opposed_classes(classes: Classes, label: int) -> tuple[int, int] | None:
    """Find the first two classes that share two parts each with a class, all different; None if there are none.

    Two of five parts is the rule of FunnyBirds; classes with n parts must share max(1, n - 3).
    """
    count = max(1, len(classes[label]) - 3)
    others = (other for other in range(len(classes)) if other != label)
    near = [other for other in others if len(shared_parts(classes, label, other)) == count]
    for first, second in combinations(near, 2):
        if not shared_parts(classes, label, first) & shared_parts(classes, label, second):
            return first, second
    return None
