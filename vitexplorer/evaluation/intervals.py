"""Confidence interval of a mean over images: the bootstrap's percentile interval (Efron & Tibshirani 1993, ch. 13).

Images are drawn with replacement, as many as there are. The cases of one image (the cells of a grid) are not
independent and are drawn together (the cluster bootstrap, Davison & Hinkley 1997, section 3.8).
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

DRAWS = 2000
LEVEL = 0.95


def mean_interval(
    values: Float[np.ndarray, " entries"], images: Int[np.ndarray, " entries"]
) -> tuple[float, float, float]:
    """Compute the mean of the values that are not NaN, and its 95 % interval, as (mean, low, high).

    The interval of a single image is NaN, and so is everything if all values are NaN.

    Args:
        values: a value for each case.
        images: number of each case's image.
    """
    known = np.isfinite(values)
    if not known.any():
        return (np.nan,) * 3
    _, image = np.unique(images[known], return_inverse=True)
    sums, counts = np.bincount(image, values[known]), np.bincount(image)
    number = len(sums)
    mean = float(sums.sum() / counts.sum())
    if number == 1:
        return mean, np.nan, np.nan
    drawn = np.random.default_rng(0).multinomial(number, np.full(number, 1 / number), DRAWS)  # (draws, images)
    means = drawn @ sums / (drawn @ counts)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return mean, float(low), float(high)
