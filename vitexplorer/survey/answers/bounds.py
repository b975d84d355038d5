"""Checks of counts and ranges in queries."""

from __future__ import annotations

import math
from numbers import Integral, Real

from vitexplorer.core.text import SettingError, Text
from vitexplorer.survey.filtering import quote_value

MOST_PARTS = 512
"""Limit for the parts of a range"""


def is_count(value: object, least: int, most: int) -> bool:
    """Return True for a whole number within bounds; booleans do not count."""
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= value <= most


def check_image_count(value: object, most: int) -> None:
    """Raise SettingError unless `value` is a number of images from 0 to `most`."""
    if not is_count(value, 0, most):
        raise SettingError(Text("Ask for at most {most} images.", "最多可取 {most} 幅图像。").format(most=most))


def is_real(value: object) -> bool:
    """Return True for a number, finite or infinite, but not for a boolean or NaN."""
    return isinstance(value, Real) and not isinstance(value, bool) and value == value


def edge(value: object) -> float:
    """Convert one end of a range to float, infinite if it is too large. Raises SettingError if it is no number."""
    if not is_real(value):
        raise SettingError(
            Text("{value} cannot be the end of a range: give a number.", "{value} 不能作为界限：请给出数值。").format(
                value=quote_value(value)
            )
        )
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def cut_range(low: object, high: object) -> tuple[float, float]:
    """Check a range to be cut into equal parts; an empty range is widened by 1, or as little as floats allow.

    Raises SettingError for ends that are infinite, reversed, or too near or too far apart.
    """
    first, last = edge(low), edge(high)
    if first == last:
        last = first + 1.0 if first + 1.0 > first else first + 2 * MOST_PARTS * math.ulp(first)
    width = last - first
    if not (width > 0 and math.isfinite(width) and math.isfinite(MOST_PARTS / width)):
        raise SettingError(
            Text("The bounds {low} and {high} do not form a range.", "界限 {low} 与 {high} 不构成范围。").format(
                low=quote_value(low), high=quote_value(high)
            )
        )
    return first, last
