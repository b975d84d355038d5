"""What is tested always, and what only under `pytest --thorough`: a test states both sets where it states its cases.

The quick set has the smallest case that would notice, and each value in turn where the thorough one has every product.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
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
