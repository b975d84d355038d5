"""What a question of a survey is: some columns, and how an image's `Capture` fills them. No question runs the network.

A new question is one file in `questions/` that defines a `QUESTION`; a view of the registry is one by its key.
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
"""column -> number, list of numbers or None, as pyarrow takes them"""
Answers = Callable[[Sequence[Capture], Sequence[int | None]], Sequence[Values]]
"""of captures of one model and one input size, and the class that each image's label names, None where it has none"""


@dataclass(frozen=True)
class Column:
    """One column of the rows of a survey."""

    key: str
    type: pa.DataType
    title: Text
    unit: Text = same("")
    better: Literal["high", "low"] | None = None
    """which end is good, where one is"""
    filters: bool = True
    """whether a person may choose images by it"""
    shape: tuple[int, int] | None = None
    """of a column of lists: (blocks, heads) of what is counted for each head, (rows, cols) of a map; row by row"""
    axes: tuple[str, str] | None = None
    """what the two are, words of the glossary in `types.py`"""


@dataclass(frozen=True)
class Question:
    """What is asked of every image."""

    key: str
    title: Text
    question: Text
    columns: Callable[[Capture], tuple[Column, ...]]
    """of a model, told by a capture of any picture with it: how many blocks, heads and features there are"""
    answers: Answers
    """a value for each column, of each image; raises UnsupportedError where it has no meaning for the model"""
    paper: Paper | None = None

    def refuses(self, capture: Capture) -> Text | None:
        """Why it has no meaning for the capture's model; None where it has one."""
        try:
            self.answers([capture], [None])
        except UnsupportedError as error:
            return error.text
        return None


def one_by_one(answer: Callable[[Capture], Values]) -> Answers:
    """Answers that gain nothing from several captures at once and ask for no label."""
    return lambda captures, targets: [answer(capture) for capture in captures]
