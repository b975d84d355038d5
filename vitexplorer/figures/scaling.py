"""The numbers that are painted: raw or divided by their maximum, and what has to be said about them.

A map that is zero everywhere is not divided by zero, and a cell that is not a number is not given a colour: both are
said on the figure instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitexplorer.core.registry import unknown_name
from vitexplorer.core.text import Text

RAW = Text("raw, not rescaled", "原始值，未缩放")
BY_MAXIMUM = Text("divided by its maximum {largest:.4g}", "除以其最大值 {largest:.4g}")
BY_MAGNITUDE = Text("divided by its largest magnitude {largest:.4g}", "除以其最大绝对值 {largest:.4g}")
EACH = Text("each head divided by its own maximum", "每个头分别除以各自的最大值")
ZERO = Text("This map is zero everywhere.", "该图处处为零。")
EMPTY = Text("This map has no finite number.", "该图没有任何有限数值。")


@dataclass(frozen=True)
class Painted:
    """Values as they are painted, NaN where nothing is, and the words for it."""

    values: np.ndarray
    normalisation: Text
    remarks: tuple[Text, ...]
    rescaled: bool
    """whether they are no longer in the result's unit"""


def largest(values: np.ndarray) -> float:
    """The largest finite magnitude, 0 where there is none."""
    return float(np.abs(values[np.isfinite(values)]).max(initial=0))


def remark(values: np.ndarray) -> Text | None:
    """What a reader must know who sees nothing: no number at all, or zero everywhere."""
    if not np.isfinite(values).any():
        return EMPTY
    return ZERO if largest(values) == 0 else None


def _remarks(values: np.ndarray) -> tuple[Text, ...]:
    if said := remark(values):
        return (said,)
    missing = int((~np.isfinite(values)).sum())
    if not missing:
        return ()
    words = Text(
        "{missing} of {total} cells are not finite numbers and stay unpainted",
        "{total} 格中有 {missing} 格不是有限数值，未着色",
    )
    return (words.format(missing=missing, total=values.size),)


def painted(values: np.ndarray, normalise: str) -> Painted:
    """Values to paint.

    Args:
        values: any shape of numbers.
        normalise: "raw", or "max" to divide by the largest finite magnitude (a map of zeros stays as it is).

    Raises:
        UnknownNameError: another `normalise`.
    """
    if normalise not in ("raw", "max"):
        raise unknown_name("normalisation", normalise, ("raw", "max"))
    shown, peak = np.where(np.isfinite(values), values, np.nan).astype(float), largest(values)
    if normalise == "raw" or peak == 0:
        return Painted(shown, RAW, _remarks(values), rescaled=False)
    how = BY_MAGNITUDE if np.nanmin(shown) < 0 else BY_MAXIMUM
    return Painted(shown / peak, how.format(largest=peak), _remarks(values), rescaled=True)


def painted_each(values: np.ndarray, how: Text = EACH) -> Painted:
    """Maps (heads, rows, cols), each divided by its own maximum, said by `how`; maps of zeros stay as they are."""
    maps = [painted(one, "max").values for one in values]
    return Painted(np.stack(maps), how, _remarks(values), rescaled=True)
