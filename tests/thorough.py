"""What is tested always, and what only under `pytest --thorough`: a test states both sets where it states its cases.

The quick set has the smallest case that would notice, and each pair of values once where the thorough one has every
product of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, product
from typing import Any

import pytest


def always(*values: Any) -> Any:
    """Values of parameters that every run tries."""
    return pytest.param(*values, id="-".join(map(_named, values)))


def later(*values: Any) -> Any:
    """Values of parameters that only `--thorough` tries."""
    return pytest.param(*values, id="-".join(map(_named, values)), marks=pytest.mark.thorough)


def _named(value: Any) -> str:
    return "-".join(map(_named, value)) if isinstance(value, tuple | list) else str(value)


def quick(values: Iterable[Any], keep: Iterable[Any]) -> list[Any]:
    """All values of one parameter, in their order; those that are not kept wait for `--thorough`."""
    values, kept = list(values), list(keep)
    if missing := [value for value in kept if value not in values]:
        raise ValueError(f"These are kept and do not exist: {missing}")
    return [always(value) if value in kept else later(value) for value in values]


def in_turn(many: Sequence[Any], few: Sequence[Any], whole: Iterable[Any] = ()) -> list[Any]:
    """Every product of two parameters; without `--thorough` each of many with one of the few in turn.

    Those of `whole` keep all of the few.
    """
    whole, rows = list(whole), list(product(enumerate(many), enumerate(few)))
    if missing := [value for value in whole if value not in many]:
        raise ValueError(f"These are kept whole and do not exist: {missing}")
    kept = {(i, j) for (i, one), (j, _) in rows if i % len(few) == j or one in whole}
    return [always(one, other) if (i, j) in kept else later(one, other) for (i, one), (j, other) in rows]


def pairs(*factors: Sequence[Any]) -> list[Any]:
    """Every product of the factors; without `--thorough` as few as have each two values of two factors together."""
    rows = list(product(*(range(len(factor)) for factor in factors)))
    kept = _covering(rows)
    named = {row: [factor[i] for factor, i in zip(factors, row, strict=True)] for row in rows}
    return [always(*named[row]) if row in kept else later(*named[row]) for row in rows]


def _covering(rows: list[tuple[int, ...]]) -> set[tuple[int, ...]]:
    """Rows chosen greedily until every pair of values that any row has is in one of them."""
    held = {row: set(combinations(enumerate(row), 2)) for row in rows}
    wanted, chosen = set().union(*held.values()) if held else set(), set()
    while wanted:
        best = max(rows, key=lambda row: len(held[row] & wanted))
        chosen.add(best)
        wanted -= held[best]
    return chosen
