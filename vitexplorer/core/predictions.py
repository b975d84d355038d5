"""A model's answer as people read it: probabilities of classes, or the number of a model with one output.

A softmax over one output is 1 whatever it says, so that the output is shown as it is, in its own unit. A file does not
say which loss its classifier was trained with: two outputs or more are read as classes, one is not.
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
    """A model's answer as people read it: a probability as a percentage, the number of one output as it is."""
    return percent(value) if unit == PROBABILITY else measured(value)


@dataclass(frozen=True)
class Prediction:
    """One class of a classifier's answer."""

    index: int
    name: Text
    """empty where nobody knows the classes' names"""
    logit: float
    probability: float

    unit: ClassVar[Text] = PROBABILITY

    @property
    def value(self) -> float:
        """What is shown of it: its probability."""
        return self.probability

    @property
    def said(self) -> str:
        """The same as people read it."""
        return value_text(self.value, self.unit)


@dataclass(frozen=True)
class Output:
    """The answer of a model with one output, a number in its own unit: a softmax over it is 1 whatever it says."""

    index: int
    """0"""
    name: Text
    """what the number is of; empty where nobody knows"""
    output: float

    unit: ClassVar[Text] = OUTPUT

    @property
    def value(self) -> float:
        """What is shown of it: the number as the model gives it."""
        return self.output

    @property
    def said(self) -> str:
        """The same as people read it."""
        return value_text(self.value, self.unit)


Answer = Prediction | Output


@described.register
def _(answer: Answer) -> str:
    unnamed = "output" if answer.unit == OUTPUT else f"class {answer.index}"
    return f"{answer.name.en or unnamed}, {answer.said}"


@dataclass(frozen=True)
class PredictionChange:
    """One class of a classifier in two runs, or what a model with one output says in both."""

    index: int
    name: Text
    """empty where nobody knows the classes' names"""
    before: float
    """probability in the plain run, or the output"""
    after: float
    """the same of the changed run"""
    unit: Text = PROBABILITY
    """of both"""
