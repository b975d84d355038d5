"""Norms far above the others: Tukey's "far out" (Exploratory Data Analysis, 1977, section 2D)."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

FAR_OUT = 3.0
"""Interquartile ranges beyond the upper quartile"""


def far_out(norms: Float[np.ndarray, " patches"]) -> Bool[np.ndarray, " patches"]:
    """Mark norms beyond Q3 + 3 (Q3 - Q1)."""
    lower, upper = np.quantile(norms, (0.25, 0.75))
    return norms > upper + FAR_OUT * (upper - lower)
