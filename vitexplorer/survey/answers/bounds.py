"""Numbers that a question names: how many of something, and from where to where."""

from __future__ import annotations

import math
from numbers import Integral, Real

from vitexplorer.core.text import SettingError, Text
from vitexplorer.survey.filtering import shown_value

MOST_PARTS = 512
"""into which a range is cut, at most"""


def is_count(value: object, least: int, most: int) -> bool:
    """Whether it is a whole number, within bounds."""
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= value <= most


def is_real(value: object) -> bool:
    """Whether it is a number, finite or not: no truth, and not NaN, which is not equal to itself."""
    return isinstance(value, Real) and not isinstance(value, bool) and value == value


def edge(value: object) -> float:
    """One end of a range, infinite for what no float is large enough for. Raises SettingError for what is no number."""
    if not is_real(value):
        raise SettingError(
            Text("{value} is no end of a range: name a number.", "{value} 不能作为界限：请给出数值。").format(
                value=shown_value(value)
            )
        )
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def cut_range(low: object, high: object) -> tuple[float, float]:
    """A range that can be cut into parts of equal width; one of no width ends 1 later, or as soon as floats differ.

    Raises SettingError for ends that are infinite, the wrong way round, or too near or too far for that.
    """
    first, last = edge(low), edge(high)
    if first == last:
        last = first + 1.0 if first + 1.0 > first else first + 2 * MOST_PARTS * math.ulp(first)
    width = last - first
    if not (width > 0 and math.isfinite(width) and math.isfinite(MOST_PARTS / width)):
        raise SettingError(
            Text("The bounds {low} and {high} are no range.", "界限 {low} 与 {high} 不构成范围。").format(
                low=shown_value(low), high=shown_value(high)
            )
        )
    return first, last
