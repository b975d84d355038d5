"""Running mean and standard deviation of each place of many lists, exact to rounding, and the means' intervals.

Parts are combined as in Chan, Golub & LeVeque 1983 (The American Statistician 37:242), which loses no digits even if
the mean is much larger than the spread. The 95 % interval of a mean is Student's (Student 1908, Biometrika 6:1):
mean +- t s / sqrt(n) over n images, taken as independent samples. Intervals are not corrected for multiple comparisons:
of twenty heads, one is expected to lie outside its own.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int
from scipy.stats import t as student

from vitexplorer.survey.answers.chosen import by_file
from vitexplorer.survey.columns import Column
from vitexplorer.survey.opened import Survey

LEVEL = 0.95


class Moments:
    """Moments of the lists added so far; values that are not finite are left out."""

    def __init__(self, width: int):
        self.counts: Int[np.ndarray, " entries"] = np.zeros(width, np.int64)
        self._means, self._squares = np.zeros(width), np.zeros(width)

    @property
    def mean(self) -> Float[np.ndarray, " entries"]:
        """Mean of each place; NaN without numbers."""
        return np.where(self.counts > 0, self._means, np.nan)

    @property
    def deviation(self) -> Float[np.ndarray, " entries"]:
        """Standard deviation of each place, with n - 1; NaN for fewer than two numbers."""
        return np.where(self.counts > 1, np.sqrt(self._squares / np.maximum(self.counts - 1, 1)), np.nan)

    def add(self, lists: Float[np.ndarray, "images entries"]) -> None:
        """Add some lists; lists of another width are ignored, as a file whose images all failed has no entries."""
        if lists.shape[1] != len(self.counts):
            return
        values = lists.astype(np.float64)
        known = np.isfinite(values)
        counts = known.sum(0)
        means = np.where(known, values, 0).sum(0) / np.maximum(counts, 1)
        squares = (np.where(known, values - means, 0) ** 2).sum(0)
        every = np.maximum(self.counts + counts, 1)
        apart = means - self._means
        self._squares += squares + apart**2 * (self.counts * counts / every)
        self._means += apart * (counts / every)
        self.counts += counts


def moments_of(survey: Survey, column: Column, rows: Int[np.ndarray, " images"]) -> Moments:
    """Compute the moments of a column of tables over ascending rows, file by file."""
    height, width = column.shape
    moments = Moments(height * width)
    for piece in by_file(survey, rows):
        moments.add(survey.lists_at(column.key, piece))
    return moments


def mean_tables(
    moments: Moments, shape: tuple[int, int]
) -> dict[str, Float[np.ndarray, "rows cols"] | Int[np.ndarray, "rows cols"]]:
    """Return the fields `values`, `low`, `high` and `counts` of a figure of means over images, as tables.

    An interval of fewer than two images is NaN.
    """
    mean, deviation, counts = (part.reshape(shape) for part in (moments.mean, moments.deviation, moments.counts))
    quantile = student.ppf((1 + LEVEL) / 2, np.maximum(counts - 1, 1))
    half = np.where(counts > 1, quantile * deviation / np.sqrt(np.maximum(counts, 1)), np.nan)
    return {"values": mean, "low": mean - half, "high": mean + half, "counts": counts}
