"""Which rows are asked about: conditions on columns, all of which must hold.

A column of a list is addressed by its place: `distance[3,1]` is the attention distance of block 3, head 1.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Within:
    """Numbers from `low` to `high`, both included; None leaves an end open. What is not a number is not within."""

    column: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Equals:
    """One value; None asks for rows without one."""

    column: str
    value: str | float | bool | None


@dataclass(frozen=True)
class OneOf:
    """Any of some values."""

    column: str
    values: tuple[str | float | bool | None, ...]


Condition = Within | Equals | OneOf
Where = tuple[Condition, ...]
