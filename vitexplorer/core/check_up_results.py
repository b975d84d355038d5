"""Records of a check-up's proofs: pictures with the answers to them, and a matrix before and after a repair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.core.types import Result


@dataclass(frozen=True, kw_only=True)
class AnsweredPicturesResult(Result):
    """Pictures as a model gets them, with its answers, values (sides, images): probabilities; NaN without an answer."""

    headings: tuple[Text, ...]
    """Heading of each row of pictures"""
    pixels: tuple[tuple[np.ndarray, ...], ...]
    """(height, width, 3) uint8 of each side and image"""
    answers: tuple[tuple[Text, ...], ...]
    """Words under each picture"""
    right: tuple[tuple[bool | None, ...], ...]
    """True for an answer that is the label, None where there is no label"""


@dataclass(frozen=True, kw_only=True)
class TwoMatricesResult(Result):
    """One matrix before and after a repair, or before alone, values (sides, rows, cols)."""

    headings: tuple[Text, ...]
    """Heading of each matrix"""
    names: tuple[Text, ...] = ()
    """Names of the rows and of the columns; empty for the places of a patch grid"""
    axis_names: tuple[Text, Text]
    """Names of the two axes of a matrix"""
