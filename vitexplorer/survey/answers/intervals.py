"""How far would a number move with other images? 95 % intervals that cost nothing at ten million images.

A share has Wilson's score interval (Wilson 1927, JASA 22:209; Brown, Cai & DasGupta 2001, section 3.1.1, advise it), a
mean Student's (Student 1908, Biometrika 6:1): mean +- t s / sqrt(n) over the n images, each one independent sample.
Each interval is for its own number; of twenty heads one is expected to lie outside of its own.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float, Int
from scipy.stats import t as student

from vitexplorer.survey.answers.moments import Moments

LEVEL = 0.95
Z = 1.959963984540054
"""the normal distribution holds 95 % within this many standard deviations"""


def share_interval(successes: int, count: int) -> tuple[float, float]:
    """Wilson's interval of a share, 0-1; NaN for no case."""
    if not count:
        return math.nan, math.nan
    share, spread = successes / count, Z * Z / count
    middle = (share + spread / 2) / (1 + spread)
    half = Z / (1 + spread) * math.sqrt(share * (1 - share) / count + spread / (4 * count))
    return max(0.0, middle - half), min(1.0, middle + half)


def mean_intervals(
    means: Float[np.ndarray, "*places"], deviations: Float[np.ndarray, "*places"], counts: Int[np.ndarray, "*places"]
) -> tuple[Float[np.ndarray, "*places"], Float[np.ndarray, "*places"]]:
    """Student's intervals of means.

    Args:
        means: over images.
        deviations: standard deviations of the images, with n - 1.
        counts: of images; fewer than two have no interval, NaN.
    """
    quantile = student.ppf((1 + LEVEL) / 2, np.maximum(counts - 1, 1))
    half = np.where(counts > 1, quantile * deviations / np.sqrt(np.maximum(counts, 1)), np.nan)
    return means - half, means + half


def mean_tables(
    moments: Moments, shape: tuple[int, int]
) -> dict[str, Float[np.ndarray, "rows cols"] | Int[np.ndarray, "rows cols"]]:
    """The fields `values`, `low`, `high` and `counts` of a figure: means over images, of these rows and columns."""
    mean, deviation, counts = (part.reshape(shape) for part in (moments.mean, moments.deviation, moments.counts))
    low, high = mean_intervals(mean, deviation, counts)
    return {"values": mean, "low": low, "high": high, "counts": counts}
