"""Results of images and texts: a number for each text, the best text of each patch, the words of a caption."""

from __future__ import annotations

from collections.abc import Sequence
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


@dataclass(frozen=True, kw_only=True)
class CaptionResult(Result):
    """Caption of an image, and the patches of each word by several readings, values (methods, words, rows, cols)."""

    words: tuple[str, ...]
    probabilities: np.ndarray
    """(words,) probability that the model gave each word after those before it"""
    has_place: np.ndarray
    """(words,) bool: the word names something in the picture, unlike "a" and "of\""""
    methods: tuple[str, ...]
    """Keys of the readings"""
    titles: tuple[Text, ...]
    """Names of the readings"""
    units: tuple[Text, ...]
    """Units of the readings"""
    says: tuple[Text, ...]
    """Sentence on what each reading reads"""
    grid: PatchGrid
    image: np.ndarray
    """(height, width, 3) uint8: the pixels the model saw"""

    @property
    def sentence(self) -> str:
        """The words as a sentence; Chinese words stand without spaces."""
        return sentence_of(self.words)


def sentence_of(words: Sequence[str]) -> str:
    """Join words to a sentence; Chinese words stand without spaces."""
    return (" " if "".join(words).isascii() else "").join(words)
