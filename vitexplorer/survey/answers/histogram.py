"""Histogram of a column of numbers.

A number v lies in bin floor((v - first) bins / (last - first)); the last bin includes its upper edge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from vitexplorer.core.text import SettingError, Text
from vitexplorer.survey.answers.bounds import MOST_PARTS, cut_range, is_count
from vitexplorer.survey.columns import NUMERIC, Column, finite, grouping, numeric
from vitexplorer.survey.conditions import Where
from vitexplorer.survey.filtering import quote_value
from vitexplorer.survey.opened import Survey

CLASSES = ("predicted", "second")
"""Columns of class indices, whose numbers are names"""
MOST_BINS, MOST_GROUPS = MOST_PARTS, 12
"""Limits for bins, and for groups, whose colours must be distinguishable"""


@dataclass(frozen=True)
class Histogram:
    """Counts of images in bins of equal width."""

    edges: Float[np.ndarray, " points"]
    """Edges, one more than bins; a bin includes its lower edge, the last one also its upper edge"""
    counts: Int[np.ndarray, "groups bins"]
    groups: tuple[str | float | bool | None, ...]
    """Values of the column `by`, most frequent first; a single None without `by`"""
    others: int
    """Rows with a number whose group is not among `groups`"""
    without: int
    """Rows without a number, or with an infinite one"""


def numeric_columns(survey: Survey) -> tuple[Column, ...]:
    """Return the columns of numbers that may be filtered by, and list columns with a shape, used as `name[3,1]`."""
    return tuple(
        column
        for column in survey.columns.values()
        if column.filters
        and column.key not in CLASSES
        and (column.kind in NUMERIC or (column.kind == "list" and column.shape is not None))
    )


def histogram(
    survey: Survey,
    column: str,
    where: Where = (),
    bins: int = 40,
    by: str | None = None,
    bounds: tuple[float, float] | None = None,
) -> Histogram:
    """Count images in bins of equal width, from the smallest to the largest number or within `bounds`.

    Args:
        survey: the survey.
        column: name of a column of numbers.
        where: conditions on the rows.
        bins: number of bins, at most `MOST_BINS`.
        by: a column to group by; the `MOST_GROUPS` most frequent values are counted separately.
        bounds: first and last edge; numbers outside are not counted.

    Raises:
        SettingError: `bins`, `bounds` or the kind of a column is invalid.
        UnknownNameError: there is no such column.
    """
    if not is_count(bins, 1, MOST_BINS):
        raise SettingError(
            Text("{bins} bins: ask for 1 to {most}.", "分箱数为 {bins}：请在 1 到 {most} 之间选择。").format(
                bins=quote_value(bins), most=MOST_BINS
            )
        )
    numbers = numeric(survey.columns, column)
    condition = finite(numbers, 0)
    known = f"FILTER (WHERE {condition})"
    query = f"SELECT count(*), count(*) {known}, min({{0}}) {known}, max({{0}}) {known} FROM {{rows}}"
    every, finite_ones, *ends = survey.sql(query, where, more=[numbers]).fetchall()[0]
    if bounds is None:
        bounds = (float(ends[0]), float(ends[1])) if finite_ones else (0.0, 1.0)
    low, high = cut_range(*bounds)
    group = None if by is None else grouping(survey.columns, by)
    place = "least(floor(({0}::DOUBLE - $low) * $scale), $last)::USMALLINT"  # a key of two bytes is counted fastest
    counted = survey.sql(
        f"SELECT {'{1}' if group else 'NULL'} AS of_group,"
        f" CASE WHEN {{0}} BETWEEN $low AND $high THEN {place} END AS bin, count(*)"
        f" FROM {{rows}} AND {condition} GROUP BY of_group, bin",
        where,
        more=[numbers, *([group] if group else [])],
        low=low,
        high=high,
        last=bins - 1,
        scale=bins / (high - low),
    ).fetchall()
    groups, others = _groups(counted) if group else ((None,), 0)
    counts = np.zeros((len(groups), bins), np.int64)
    at = {value: number for number, value in enumerate(groups)}
    for value, bin_, number in counted:
        if value in at and bin_ is not None:
            counts[at[value], bin_] = number
    edges = low + np.arange(bins + 1) * ((high - low) / bins)
    return Histogram(edges, counts, groups, others, every - finite_ones)


def _groups(
    counted: Iterable[tuple[str | float | bool | None, int | None, int]],
) -> tuple[tuple[str | float | bool | None, ...], int]:
    """Return the most frequent groups, and the number of images in all others."""
    totals: Counter[str | float | bool | None] = Counter()
    for value, _, number in counted:
        totals[value] += number
    order = sorted(totals, key=lambda value: (-totals[value], value is None, value))
    return tuple(order[:MOST_GROUPS]), sum(totals[value] for value in order[MOST_GROUPS:])
