"""Spearman's rank correlation: Pearson's correlation of the ranks, with mean ranks for ties."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float


def mean_ranks(values: Float[np.ndarray, " entries"]) -> Float[np.ndarray, " entries"]:
    """Rank each value from 0 up; ties get their mean rank."""
    _, group, count = np.unique(values, return_inverse=True, return_counts=True)
    return (count.cumsum() - (count + 1) / 2)[group]


def spearman(one: Float[np.ndarray, " entries"], other: Float[np.ndarray, " entries"]) -> float:
    """Compute the rank correlation, -1 to 1; NaN if either is constant."""
    a, b = (ranks - ranks.mean() for ranks in map(mean_ranks, (one, other)))
    scale = np.sqrt((a * a).sum() * (b * b).sum())
    return float((a * b).sum() / scale) if scale > 0 else float("nan")
