"""Pareto front of a metric against parameters, time or file size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool

from vitexplorer.finetune.results.metrics import higher_is_better


def pareto_front(metric: str, values: Sequence[float], costs: Sequence[float]) -> Bool[np.ndarray, " runs"]:
    """Return True for each run that no other dominates: at least as good and as cheap, and better in metric or cost.

    Runs that are equal in both are on the front together. A NaN value is never on the front.
    """
    gain = np.asarray(values, float) * (1 if higher_is_better(metric) else -1)
    cost = np.asarray(costs, float)
    no_worse = (gain[None] >= gain[:, None]) & (cost[None] <= cost[:, None])
    better = (gain[None] > gain[:, None]) | (cost[None] < cost[:, None])
    return ~np.isnan(gain) & ~(no_worse & better).any(1)
