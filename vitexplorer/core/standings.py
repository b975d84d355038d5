"""Standings of attribution methods on the bundled models, read from `assets/truth.json`.

`python -m benchmarks.truth` measured them; they hold for the plain model at its own image size. A method's rank is the
mean of its ranks by all numbers that measure if a map is right (average ranks, Demsar 2006, JMLR 7, section 3.2.2).
Equal methods share a rank, and numbers that were not measured for a method are left out of its mean.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from jaxtyping import Float

from vitexplorer.core.settings import ASSETS
from vitexplorer.core.text import Text
from vitexplorer.core.types import Provenance

FILE = ASSETS / "truth.json"
YARDSTICKS = RANDOM, ORACLE = "random", "oracle"
"""Rows of the table that are not methods: a random map, and the truth itself"""
STEADY = ("max_sensitivity", "avg_sensitivity", "randomisation")
"""Numbers of a map's stability and its dependence on the weights, not of its correctness"""
CLASS_SENSITIVE = ("grid_pointing", "target_sensitivity")
"""Numbers of class sensitivity: share of relevance on the right one of several objects, and share of cases in which
another class gets the parts that it shares"""


@dataclass(frozen=True, eq=False)
class Standings:
    """The table of one model: methods by numbers."""

    methods: tuple[str, ...]
    """Keys of views, `key:setting` with other settings than the defaults; a random map and the truth are last"""
    numbers: tuple[str, ...]
    names: tuple[Text, ...]
    """Display names of `numbers`"""
    better: tuple[str, ...]
    """Good end of each of `numbers`, "high" or "low" """
    values: Float[np.ndarray, "methods numbers"]
    """Means over the cases; NaN where a number was not measured"""
    low: Float[np.ndarray, "methods numbers"]
    """Lower end of the 95 % interval"""
    high: Float[np.ndarray, "methods numbers"]
    """Upper end of the 95 % interval"""
    counts: Float[np.ndarray, "methods numbers"]
    """Number of cases"""
    weights: str
    """Checksum of the weights that were measured"""

    @cached_property
    def ranked(self) -> dict[str, float]:
        """Mean rank of every view with its default settings, the best first; 1 is the best possible."""
        rows = [at for at, name in enumerate(self.methods) if ":" not in name and name not in YARDSTICKS]
        judged = [at for at, key in enumerate(self.numbers) if key not in STEADY]
        ranks = mean_ranks(self.values[np.ix_(rows, judged)], [self.better[at] for at in judged])
        return {self.methods[rows[at]]: float(ranks[at]) for at in np.argsort(ranks, kind="stable")}

    @property
    def class_sensitive(self) -> str:
        """Key of the number that measures if a map distinguishes classes, or parts."""
        return next(key for key in CLASS_SENSITIVE if key in self.numbers)

    def of(self, method: str, number: str) -> float:
        """Return the mean of a number for a method; NaN where it was not measured."""
        if method not in self.methods or number not in self.numbers:
            return float("nan")
        return float(self.values[self.methods.index(method), self.numbers.index(number)])

    def interval(self, method: str, number: str) -> tuple[float, float]:
        """Return both ends of the 95 % interval of a number that the table has for a method."""
        at = self.methods.index(method), self.numbers.index(number)
        return float(self.low[at]), float(self.high[at])


def mean_ranks(values: Float[np.ndarray, "methods numbers"], better: Sequence[str]) -> Float[np.ndarray, " methods"]:
    """Average each method's ranks, 1 the best; NaN values are left out, equal ones share a rank."""
    signed = np.where([end == "high" for end in better], -values, values)
    known = np.isfinite(signed)
    before = (signed[None] < signed[:, None]) & known[None]
    alike = (signed[None] == signed[:, None]) & known[None]
    ranks = np.where(known, before.sum(1) + (alike.sum(1) + 1) / 2, 0)
    return ranks.sum(1) / np.maximum(known.sum(1), 1)


def standings(provenance: Provenance) -> Standings | None:
    """Return the table of a picture's model; None unless this model was measured, unchanged and at its own size."""
    if provenance.weights != "bundled" or provenance.changes or provenance.resized:
        return None
    return _tables().get(provenance.model)


@cache
def _tables() -> Mapping[str, Standings]:
    return {name: _read(table) for name, table in json.loads(FILE.read_text("utf-8")).items()}


def _read(table: Mapping) -> Standings:
    arrays = {key: np.array(table[key], float) for key in ("values", "low", "high", "counts")}  # null becomes NaN
    return Standings(
        methods=tuple(table["methods"]),
        numbers=tuple(table["numbers"]),
        names=tuple(Text(*name) for name in table["names"]),
        better=tuple(table["better"]),
        weights=table["weights"],
        **arrays,
    )
