"""Spearman's rank correlation: Pearson's correlation of the ranks, with mean ranks for ties."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from scipy.stats import rankdata


def spearman(values: Float[np.ndarray, " entries"], others: Float[np.ndarray, " entries"]) -> float:
    """Compute the rank correlation, -1 to 1; NaN if either is constant."""
    a, b = (ranks - ranks.mean() for ranks in map(rankdata, (values, others)))
    scale = np.sqrt((a * a).sum() * (b * b).sum())
    return float((a * b).sum() / scale) if scale > 0 else float("nan")
