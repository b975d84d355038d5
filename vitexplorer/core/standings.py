"""Where the methods stand: the tables that `python -m benchmarks.truth` printed for the bundled models.

They hold for the plain model at its own image size. A method's rank is the mean of its ranks by all numbers that say
whether a map is right (average ranks, Demsar 2006, JMLR 7, section 3.2.2); methods that are alike share theirs, and a
number that was not measured for a method says nothing of it.
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
"""rows that are no methods: a random map, and the truth itself"""
STEADY = ("max_sensitivity", "avg_sensitivity", "randomisation")
"""numbers that say whether a map is steady or depends on the weights at all, not whether it is right"""


TELLING = ("grid_pointing", "target_sensitivity")
"""shares: of relevance on the right one of several objects; of cases in which another class gets the parts it shares"""


@dataclass(frozen=True, eq=False)
class Standings:
    """The table of one model: methods by numbers."""

    methods: tuple[str, ...]
    """keys of views, those at other settings than the defaults with them; a random map and the truth are the last"""
    numbers: tuple[str, ...]
    names: tuple[Text, ...]
    """of the numbers"""
    better: tuple[str, ...]
    """of the numbers: "high" or "low" is good"""
    values: Float[np.ndarray, "methods numbers"]
    """means over the cases; NaN where a number was not measured"""
    low: Float[np.ndarray, "methods numbers"]
    """lower end of the 95 % interval"""
    high: Float[np.ndarray, "methods numbers"]
    """upper end"""
    counts: Float[np.ndarray, "methods numbers"]
    """cases"""
    weights: str
    """a checksum of what was measured"""

    @cached_property
    def ranked(self) -> dict[str, float]:
        """The mean rank of every view at its default settings, the best first; 1 is the best there can be."""
        rows = [at for at, name in enumerate(self.methods) if ":" not in name and name not in YARDSTICKS]
        judged = [at for at, key in enumerate(self.numbers) if key not in STEADY]
        ranks = mean_ranks(self.values[np.ix_(rows, judged)], [self.better[at] for at in judged])
        return {self.methods[rows[at]]: float(ranks[at]) for at in np.argsort(ranks, kind="stable")}

    @property
    def telling(self) -> str:
        """The number that says whether a map tells one class, or one part, from another."""
        return next(key for key in TELLING if key in self.numbers)

    def of(self, method: str, number: str) -> float:
        """One mean; NaN where it was not measured."""
        if method not in self.methods or number not in self.numbers:
            return float("nan")
        return float(self.values[self.methods.index(method), self.numbers.index(number)])


def mean_ranks(values: Float[np.ndarray, "methods numbers"], better: Sequence[str]) -> Float[np.ndarray, " methods"]:
    """The mean over the numbers of each method's rank, 1 the best; NaN values are left out, alike ones share a rank."""
    signed = np.where([one == "high" for one in better], -values, values)
    known = np.isfinite(signed)
    before = (signed[None] < signed[:, None]) & known[None]
    alike = (signed[None] == signed[:, None]) & known[None]
    ranks = np.where(known, before.sum(1) + (alike.sum(1) + 1) / 2, 0)
    return ranks.sum(1) / np.maximum(known.sum(1), 1)


def standings(provenance: Provenance) -> Standings | None:
    """The table that holds for a picture; None where nobody measured one of such a model."""
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
