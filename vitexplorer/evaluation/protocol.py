"""Record of a protocol: a question about every map, a score for each case, and which scores are good. Its registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from jaxtyping import Float
from numpy import ndarray

from vitexplorer.core.paper import Paper
from vitexplorer.core.registry import Registry
from vitexplorer.core.text import Text
from vitexplorer.evaluation.case import Case, Trial

Data = Literal["scenes", "grids", "parted"]


@dataclass(frozen=True)
class Column:
    """Score of a protocol."""

    key: str
    name: Text
    """Short name, for the head of a column"""
    better: Literal["high", "low"]


@dataclass(frozen=True)
class Protocol:
    """Evaluation of maps against a truth. A new one is one file."""

    title: Text
    question: Text
    columns: tuple[Column, ...]
    measure: Callable[[Trial], float | Float[ndarray, " figures"] | Float[ndarray, "figures steps"]]
    """Function that returns the only score, one for each column, or for each column and threshold; NaN for none"""
    data: Data
    """Default data: single objects, grids of them, or pictures with parts"""
    paper: Paper
    suits: Callable[[Case], bool] = lambda case: True
    """Function that returns True if a case has the truth it needs"""
    targets: int = 500
    """Default number of cases"""
    targets_of_slow: int = 40
    """Default number of cases for methods that run the network many times for one map"""
    compares_classes: bool = False
    """True if it needs several classes, so does not apply to a model with one output"""
    reads_answer: bool = False
    """True if it depends on the top class, so does not apply to texts either"""
    choose: Callable[[Float[ndarray, "figures steps"]], int] | None = None
    """Function from the means over the cases to the index of the threshold, if there are several"""


PROTOCOLS: Registry[Protocol] = Registry("protocol", "vitexplorer.evaluation", "PROTOCOL")
"""Protocols, keyed by file name"""
