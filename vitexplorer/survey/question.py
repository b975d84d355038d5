"""Record of a survey question: columns, and the function that fills them from captures. It never runs the network.

A new question is one file in `questions/` that defines a `QUESTION`; the key of a view is a question, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text, UnsupportedError, same

Values = Mapping[str, Any]
"""Column -> number, list of numbers or None, as pyarrow takes them"""
Answers = Callable[[Sequence[Capture], Sequence[int | None]], Sequence[Values]]
"""(captures of one model and input size, class of each image's label or None) -> values for each capture"""


@dataclass(frozen=True)
class Column:
    """Column of the rows of a survey."""

    key: str
    type: pa.DataType
    title: Text
    unit: Text = same("")
    better: Literal["high", "low"] | None = None
    """Good direction, if there is one"""
    filters: bool = True
    """True if images may be filtered by it"""
    shape: tuple[int, int] | None = None
    """Shape of the lists of a list column, row by row: (blocks, heads), or (rows, cols) of a map"""
    axes: tuple[str, str] | None = None
    """Names of the two axes, from the glossary in `types.py`"""


@dataclass(frozen=True)
class Question:
    """Question about every image."""

    key: str
    title: Text
    question: Text
    columns: Callable[[Capture], tuple[Column, ...]]
    """Function from a capture of any picture to the columns, which depend on the model's blocks, heads and features"""
    answers: Answers
    """Function that returns each image's values; raises UnsupportedError if it does not apply to the model"""
    paper: Paper | None = None

    def refuses(self, capture: Capture) -> Text | None:
        """Return the reason why it does not apply to the capture's model, or None."""
        try:
            self.answers([capture], [None])
        except UnsupportedError as error:
            return error.text
        return None


def one_by_one(answer: Callable[[Capture], Values]) -> Answers:
    """Make `Answers` from a function of a single capture that ignores the label."""
    return lambda captures, targets: [answer(capture) for capture in captures]
