"""What can be explained beside a class; `quantities/scores.py` says which number each is."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

Patch = tuple[int, int]
"""row, column in the last block's grid"""


@dataclass(frozen=True)
class RatherThan:
    """Explained is the logit of one class minus that of another."""

    index: int
    other: int

    def __str__(self) -> str:
        return f"{self.index} vs {self.other}"


@dataclass(frozen=True)
class Alike:
    """Explained is the cosine of the image's pooled feature and a given one, which stays as it is."""

    name: str
    """says which: the other image's id in the page, or the first of its hash, or of that of the numbers"""
    embedding: np.ndarray = field(repr=False, compare=False)
    """(dim,)"""
    patch: Patch | None = None
    """the numbers are those of this patch of the other image; None where they are of all of it"""

    def __str__(self) -> str:
        return f"like {self.name}" + (f" patch {self.patch[0]},{self.patch[1]}" if self.patch else "")


@dataclass(frozen=True)
class PatchAlike:
    """Explained is the cosine of a patch's last token and another of this image's, which stays as it is."""

    patch: Patch
    other: Patch | None = None
    """None: the image's pooled feature"""

    def __str__(self) -> str:
        patches = (self.patch, self.other) if self.other else (self.patch,)
        return "patch " + " vs ".join(f"{row},{col}" for row, col in patches)


@dataclass(frozen=True)
class Region:
    """Explained is the cosine of the mean of some patches' last tokens and the image's pooled feature, which stays."""

    patches: tuple[Patch, ...]
    """each once, row by row"""

    def __str__(self) -> str:
        return "region " + "+".join(f"{row}.{col}" for row, col in self.patches)


Similarity = Alike | PatchAlike | Region
"""what needs no classifier: a cosine"""
Target = int | RatherThan | Similarity
"""what is explained: a class, or one of these"""
