"""A picture whose parts can be taken away by drawing it again: what the part-based protocols are written against.

After FunnyBirds (Hesse et al. 2023, arXiv 2308.06248): a class is a combination of kinds of parts, so that which parts
suffice to tell it from all others is known without asking a model. Whatever has these members will do; nothing has to
be derived from this type.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, UInt8


@runtime_checkable
class Parted(Protocol):
    """One such picture and the truth about it."""

    @property
    def label(self) -> int:
        """Its class: an index into `classes`, and into the outputs of a classifier trained on such pictures."""

    @property
    def classes(self) -> Sequence[Mapping[str, str]]:
        """Of each class, the kind that each part has: part -> kind. All classes have the same parts."""

    @property
    def background(self) -> Sequence[str]:
        """Names of things that belong to no class and can be taken away one by one; may be empty."""

    def render(self, without: Collection[str] = ()) -> UInt8[np.ndarray, "height width 3"]:
        """The picture, RGB 0-255, without some parts or things; nothing else is drawn otherwise.

        With nothing left out it is the picture itself, the same at each call.
        """

    def masks(self) -> Mapping[str, Bool[np.ndarray, "height width"]]:
        """Of each part and thing, the pixels where it is seen in the whole picture; they do not overlap."""


Classes = Sequence[Mapping[str, str]]


def shared_parts(classes: Classes, one: int, other: int) -> frozenset[str]:
    """The parts that two classes have of the same kind."""
    return frozenset(part for part, kind in classes[one].items() if classes[other][part] == kind)


def sufficient_parts(classes: Classes, label: int) -> tuple[frozenset[str], ...]:
    """The smallest sets of parts that no other class shares all of, from few parts to many.

    Minimal: none contains another. Empty where a class is a twin of another.
    """
    alike = [shared_parts(classes, label, other) for other in range(len(classes)) if other != label]
    found: list[frozenset[str]] = []
    for size in range(1, len(classes[label]) + 1):
        for chosen in map(frozenset, combinations(sorted(classes[label]), size)):
            if not any(chosen <= common for common in alike) and not any(known <= chosen for known in found):
                found.append(chosen)
    return tuple(found)


def opposed_classes(classes: Classes, label: int) -> tuple[int, int] | None:
    """Two classes that share two parts each with a class, and none of these is the same part; the first such pair.

    None where there is none. Of classes with other than five parts: all but three, rounded down to at least one, as
    two of five in FunnyBirds.
    """
    count = max(1, len(classes[label]) - 3)
    near = [other for other in range(len(classes)) if len(shared_parts(classes, label, other)) == count]
    near = [other for other in near if other != label]
    for one, other in combinations(near, 2):
        if not shared_parts(classes, label, one) & shared_parts(classes, label, other):
            return one, other
    return None
