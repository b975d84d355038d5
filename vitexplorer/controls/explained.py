"""Targets of an explanation besides a class; `quantities/scores.py` computes their values."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

Patch = tuple[int, int]
"""(row, column) in the last block's grid"""


@dataclass(frozen=True)
class RatherThan:
    """Target: the logit of one class minus the logit of another."""

    index: int
    other: int

    def __str__(self) -> str:
        return f"{self.index} vs {self.other}"


@dataclass(frozen=True)
class Alike:
    """Target: the cosine of the image's pooled feature and a fixed embedding."""

    name: str
    """Name of the embedding: the other image's id on the page, or the start of the hash of the image or the numbers"""
    embedding: np.ndarray = field(repr=False, compare=False)
    """Fixed embedding, shape (dim,)"""
    patch: Patch | None = None
    """Patch of the other image that the embedding is from; None if it is from the whole image"""

    def __str__(self) -> str:
        return f"like {self.name}" + (f" patch {self.patch[0]},{self.patch[1]}" if self.patch else "")


@dataclass(frozen=True)
class PatchAlike:
    """Target: the cosine of a patch's last token and another, fixed, token or feature of the same image."""

    patch: Patch
    other: Patch | None = None
    """Fixed patch; None for the image's pooled feature"""

    @property
    def patches(self) -> tuple[Patch, ...]:
        """Patches that it names, one or two."""
        return (self.patch, self.other) if self.other else (self.patch,)

    def __str__(self) -> str:
        return "patch " + " vs ".join(f"{row},{col}" for row, col in self.patches)


@dataclass(frozen=True)
class Region:
    """Target: the cosine of the mean last token of some patches and the image's pooled feature, which is fixed."""

    patches: tuple[Patch, ...]
    """Patches, each once, row by row"""

    def __str__(self) -> str:
        return "region " + "+".join(f"{row}.{col}" for row, col in self.patches)


@dataclass(frozen=True)
class TextVector:
    """A text and its unit vector in the joint space of images and texts."""

    text: str
    """The sentence; of a vector that came without one, # and a number made of it"""
    vector: np.ndarray = field(repr=False, compare=False)
    """float32 (dim,)"""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class LikeText:
    """Target: the cosine of the image's feature in the joint space and a text's vector."""

    described: TextVector

    def __str__(self) -> str:
        return f"text: {self.described}"


Similarity = Alike | PatchAlike | Region | LikeText
"""Target without a classifier: a cosine"""
Target = int | RatherThan | Similarity
"""Target of an explanation: the number of a class, or one of the classes above"""
