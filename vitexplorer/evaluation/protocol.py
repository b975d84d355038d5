"""What a protocol is: a question put to every map, a number for each case, and what a good number is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from jaxtyping import Float
from numpy import ndarray

from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.evaluation.case import Case, Trial

Data = Literal["scenes", "grids", "parted"]


@dataclass(frozen=True)
class Column:
    """One number of a protocol."""

    key: str
    name: Text
    """short: the head of a column"""
    better: Literal["high", "low"]


@dataclass(frozen=True)
class Protocol:
    """One way to hold maps against the truth; a new one is one file."""

    title: Text
    question: Text
    columns: tuple[Column, ...]
    measure: Callable[[Trial], Float[ndarray, " figures"] | Float[ndarray, "figures steps"]]
    """a number for each column, NaN where the case says nothing; or for each column and threshold"""
    data: Data
    """what it is measured on where nobody says: single objects, grids of them, or pictures with parts"""
    paper: Paper
    suits: Callable[[Case], bool]
    """whether a case holds the truth that it needs"""
    targets: int
    """cases that a table rests on where nobody says"""
    targets_of_slow: int
    """the same for methods that run the network many times for one map"""
    compares_classes: bool = False
    """whether it asks which of several classes is the answer: of a model with one output there is nothing to ask"""
    choose: Callable[[Float[ndarray, "figures steps"]], int] | None = None
    """means over the cases -> which threshold counts, where there are several"""
