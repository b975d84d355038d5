"""Record of a survey question: columns, and the function that fills them from captures. It never runs the network.

A new question is one file in `questions/` that defines a `QUESTION`; the key of a view is a question, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.survey.columns import Described

Values = Mapping[str, Any]
"""Column -> number, list of numbers or None, as pyarrow takes them"""
Answers = Callable[[Sequence[Capture], Sequence[int | None]], Sequence[Values]]
"""(captures of one model and input size, class of each image's label or None) -> values for each capture"""


@dataclass(frozen=True)
class Column(Described):
    """Column that a survey writes."""

    type: pa.DataType = field(kw_only=True)


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
