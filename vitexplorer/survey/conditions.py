"""Conditions on columns that select rows; all of them must hold.

An entry of a list column is addressed by its place: `distance[3,1]` is the attention distance of block 3, head 1.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Within:
    """Numbers from `low` to `high`, both included; None leaves an end open. NaN and null never match."""

    column: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Equals:
    """One value; None matches rows without a value."""

    column: str
    value: str | float | bool | None


@dataclass(frozen=True)
class OneOf:
    """Any of several values."""

    column: str
    values: tuple[str | float | bool | None, ...]


Condition = Within | Equals | OneOf
Where = tuple[Condition, ...]
