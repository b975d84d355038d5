"""A model's answer: probabilities of classes, or the number of a model with one output.

A softmax over one output is always 1, so that the output is shown as it is, in its own unit. A file does not record the
loss that its classifier was trained with: two or more outputs are read as classes, one is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vitexplorer.core.format import measured, percent
from vitexplorer.core.summaries import described
from vitexplorer.core.text import Text

PROBABILITY = Text("probability", "概率")
OUTPUT = Text("output", "输出值")


def value_text(value: float, unit: Text) -> str:
    """Format a model's answer: a probability as a percentage, the number of one output as it is."""
    return percent(value) if unit == PROBABILITY else measured(value)


@dataclass(frozen=True)
class Prediction:
    """One class of a classifier's answer."""

    index: int
    name: Text
    """Empty where the classes' names are unknown"""
    logit: float
    probability: float

    unit: ClassVar[Text] = PROBABILITY

    @property
    def value(self) -> float:
        """The probability, as the value to show."""
        return self.probability

    @property
    def display_value(self) -> str:
        """The value, formatted for people."""
        return value_text(self.value, self.unit)


@dataclass(frozen=True)
class Output:
    """The answer of a model with one output, a number in its own unit."""

    index: int
    """Index of the output, 0"""
    name: Text
    """Name of the quantity; empty where it is unknown"""
    output: float

    unit: ClassVar[Text] = OUTPUT

    @property
    def value(self) -> float:
        """The model's number, as the value to show."""
        return self.output

    @property
    def display_value(self) -> str:
        """The value, formatted for people."""
        return value_text(self.value, self.unit)


Answer = Prediction | Output


@described.register
def _(answer: Answer) -> str:
    unnamed = "output" if answer.unit == OUTPUT else f"class {answer.index}"
    return f"{answer.name.en or unnamed}, {answer.display_value}"


@dataclass(frozen=True)
class PredictionChange:
    """One class of a classifier in two runs, or the one output of a model in both."""

    index: int
    name: Text
    """Empty where the classes' names are unknown"""
    before: float
    """Probability in the plain run, or the output"""
    after: float
    """Probability in the changed run, or the output"""
    unit: Text = PROBABILITY
    """Unit of `before` and `after`"""
