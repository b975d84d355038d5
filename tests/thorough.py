"""What is tested always, and what only under `pytest --thorough`: a test states both sets where it states its cases.

The quick set has the smallest case that would notice, and each pair of values once where the thorough one has every
product of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, product
from typing import Any

import pytest


def later(*values: Any, id: str | None = None) -> Any:
    """Values of a parameter that only `--thorough` tries."""
    return pytest.param(*values, marks=pytest.mark.thorough, id=id)


def quick(values: Iterable[Any], keep: Iterable[Any]) -> list[Any]:
    """All values of one parameter, in their order; those that are not kept wait for `--thorough`."""
    values, kept = list(values), list(keep)
    if missing := [value for value in kept if value not in values]:
        raise ValueError(f"These are kept and do not exist: {missing}")
    return [value if value in kept else later(value) for value in values]


def pairs(*factors: Sequence[Any]) -> list[Any]:
    """Every product of the factors; without `--thorough` as few as have each two values of two factors together."""
    rows = list(product(*(range(len(factor)) for factor in factors)))
    kept = _covering(rows)
    named = {row: [factor[i] for factor, i in zip(factors, row, strict=True)] for row in rows}
    return [pytest.param(*named[row]) if row in kept else later(*named[row]) for row in rows]


def _covering(rows: list[tuple[int, ...]]) -> set[tuple[int, ...]]:
    """Rows chosen greedily until every pair of values that any row has is in one of them."""
    held = {row: set(combinations(enumerate(row), 2)) for row in rows}
    wanted, chosen = set().union(*held.values()) if held else set(), set()
    while wanted:
        best = max(rows, key=lambda row: len(held[row] & wanted))
        chosen.add(best)
        wanted -= held[best]
    return chosen
