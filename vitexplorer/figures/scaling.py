"""Painted numbers: raw values or values divided by their maximum, and the remarks on them.

A map that is zero everywhere is not divided by zero, and a non-finite cell gets no colour; a remark on the figure says
so instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitexplorer.core.registry import unknown_name
from vitexplorer.core.shares import in_unit
from vitexplorer.core.text import Text

RAW = Text("raw, not rescaled", "原始值，未缩放")
BY_MAXIMUM = Text("divided by its maximum {largest:.4g}", "除以其最大值 {largest:.4g}")
BY_MAGNITUDE = Text("divided by its largest magnitude {largest:.4g}", "除以其最大绝对值 {largest:.4g}")
EACH = Text("each head divided by its own maximum", "每个头分别除以各自的最大值")
ZERO = Text("This map is zero everywhere.", "该图处处为零。")
EMPTY = Text("This map has no finite number.", "该图没有任何有限数值。")
RANGE = Text("{low} to {high}", "{low} 至 {high}")
UP_TO = Text("up to {high}", "最大 {high}")
PERCENTILE, OUTLYING = 99, 1.5
"""Percentile of the magnitudes that a scale ends at where the largest is more than so many times as large"""


@dataclass(frozen=True)
class Painted:
    """Values to paint, NaN for unpainted cells, and their description."""

    values: np.ndarray
    normalisation: Text
    remarks: tuple[Text, ...]
    rescaled: bool
    """True if the values are no longer in the result's unit"""


def largest(values: np.ndarray) -> float:
    """Return the largest finite magnitude, 0 if there is none."""
    return float(np.abs(values[np.isfinite(values)]).max(initial=0))


def typical_largest(values: np.ndarray) -> float:
    """Return the largest finite magnitude, or the 99th percentile of all where a few patches lie far beyond it.

    The percentile is numpy's, with linear interpolation. Where it is 0, all but a few values are 0: the largest is
    returned.
    """
    peak = largest(values)
    percentile = float(np.percentile(np.abs(values[np.isfinite(values)]), PERCENTILE)) if peak else 0.0
    return percentile if 0 < OUTLYING * percentile < peak else peak


def is_signed(values: np.ndarray) -> bool:
    """Return True if any finite value is negative."""
    return bool((values[np.isfinite(values)] < 0).any())


def scale_end(values: np.ndarray) -> float:
    """Return the magnitude at which the scale of a map ends: a few patches do not determine that of a signed map."""
    return typical_largest(values) if is_signed(values) else largest(values)


def remark(values: np.ndarray) -> Text | None:
    """Return the explanation of an empty map: no number at all, or zero everywhere."""
    if not np.isfinite(values).any():
        return EMPTY
    return ZERO if largest(values) == 0 else None


def range_text(values: np.ndarray, unit: Text) -> Text:
    """Return the range of a map in words, from zero where nothing is negative; the remark on an empty one."""
    if sentence := remark(values):
        return sentence
    low, high = (float(end(values[np.isfinite(values)])) for end in (np.min, np.max))
    return (RANGE if low < 0 else UP_TO).format(low=in_unit(low, unit), high=in_unit(high, unit))


def _remarks(values: np.ndarray) -> tuple[Text, ...]:
    if sentence := remark(values):
        return (sentence,)
    missing = int((~np.isfinite(values)).sum())
    if not missing:
        return ()
    words = Text(
        "{missing} of {total:cell} {missing:~is no finite number and stays/are not finite numbers and stay} unpainted",
        "{total} 格中有 {missing} 格不是有限数值，未着色",
    )
    return (words.format(missing=missing, total=values.size),)


def painted(values: np.ndarray, normalise: str) -> Painted:
    """Return the values to paint.

    Args:
        values: any shape of numbers.
        normalise: "raw", or "max" to divide by the largest finite magnitude (a map of zeros stays unchanged).

    Raises:
        UnknownNameError: another `normalise`.
    """
    if normalise not in ("raw", "max"):
        raise unknown_name("normalisation", normalise, ("raw", "max"))
    finite = np.where(np.isfinite(values), values, np.nan).astype(float)
    peak = largest(values)
    if normalise == "raw" or peak == 0:
        return Painted(finite, RAW, _remarks(values), rescaled=False)
    how = BY_MAGNITUDE if np.nanmin(finite) < 0 else BY_MAXIMUM
    return Painted(finite / peak, how.format(largest=peak), _remarks(values), rescaled=True)


def painted_each(values: np.ndarray) -> Painted:
    """Divide maps (heads, rows, cols) by their own maxima; maps of zeros stay unchanged."""
    maps = [painted(values_of_one, "max").values for values_of_one in values]
    return Painted(np.stack(maps), EACH, _remarks(values), rescaled=True)
