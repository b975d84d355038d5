"""Parameter sets for every run and for `pytest --thorough`; a test states both with its cases.

The quick set has the smallest case that would notice, and each value in turn where the thorough one has every product.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import pytest


def always(*values: Any) -> Any:
    """Make a parameter set for every run."""
    return pytest.param(*values, id="-".join(map(_named, values)))


def later(*values: Any) -> Any:
    """Make a parameter set for `--thorough` only."""
    return pytest.param(*values, id="-".join(map(_named, values)), marks=pytest.mark.thorough)


def _named(value: Any) -> str:
    return "-".join(map(_named, value)) if isinstance(value, tuple | list) else str(value)


def quick(values: Iterable[Any], keep: Iterable[Any]) -> list[Any]:
    """Return all values of one parameter in order; those not in `keep` run under `--thorough` only."""
    values, always_run = list(values), list(keep)
    if missing := [value for value in always_run if value not in values]:
        raise ValueError(f"These are kept and do not exist: {missing}")
    return [always(value) if value in always_run else later(value) for value in values]


def in_turn(many: Sequence[Any], few: Sequence[Any], whole: Iterable[Any] = ()) -> list[Any]:
    """Return all pairs of two parameters; without `--thorough` each of many with one of the few in turn.

    The values in `whole` are always paired with all of the few.
    """
    whole, rows = list(whole), list(product(enumerate(many), enumerate(few)))
    if missing := [value for value in whole if value not in many]:
        raise ValueError(f"These are kept whole and do not exist: {missing}")
    always_run = {(i, j) for (i, one), (j, _) in rows if i % len(few) == j or one in whole}
    return [always(one, other) if (i, j) in always_run else later(one, other) for (i, one), (j, other) in rows]
