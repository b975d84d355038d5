"""Results of comparing an image with texts: a number for each text, and the best text of each patch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.core.types import PatchGrid, Result


@dataclass(frozen=True, kw_only=True)
class TextScoresResult(Result):
    """Cosine of an image and each text in the joint space, values (texts,)."""

    texts: tuple[str, ...]
    answers: np.ndarray
    """(texts,) as the model was trained: a softmax over the texts, or a sigmoid of each; NaN where that says nothing"""
    how: Text
    """Sentence on what they are, or why there are none; a figure has them in brackets"""


@dataclass(frozen=True, kw_only=True)
class SegmentationResult(Result):
    """Best text of each patch, values (rows, cols) int: an index into `texts`."""

    texts: tuple[str, ...]
    scores: np.ndarray
    """(texts, rows, cols): the numbers of which the largest wins"""
    grid: PatchGrid
    image: np.ndarray
    """(height, width, 3) uint8: the pixels the model saw"""
