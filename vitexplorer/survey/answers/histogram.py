"""How are the numbers of a column spread?

A number v lies in bin floor((v - first) bins / (last - first)), and the last bin holds its upper edge too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from vitexplorer.core.text import SettingError, Text
from vitexplorer.survey.answers.bounds import MOST_PARTS, cut_range, is_count
from vitexplorer.survey.columns import grouping, numeric
from vitexplorer.survey.conditions import Where
from vitexplorer.survey.filtering import shown_value
from vitexplorer.survey.opened import Survey

MOST_BINS, MOST_GROUPS = MOST_PARTS, 12
"""bars, and colours of them that an eye can tell apart"""


@dataclass(frozen=True)
class Histogram:
    """Counts of images in bins of equal width."""

    edges: Float[np.ndarray, " points"]
    """one more than bins; a bin holds its lower edge, the last one its upper edge too"""
    counts: Int[np.ndarray, "groups bins"]
    groups: tuple[str | float | bool | None, ...]
    """the values of the column `by`, the most frequent first; a single None where there is none"""
    others: int
    """rows that have a number, and a group that is not among them"""
    without: int
    """rows that have no number, or an infinite one"""


def histogram(
    survey: Survey,
    column: str,
    where: Where = (),
    bins: int = 40,
    by: str | None = None,
    bounds: tuple[float, float] | None = None,
) -> Histogram:
    """Counts in bins of equal width from the least to the largest number there is, or within `bounds`.

    Args:
        survey: which survey.
        column: of numbers.
        where: which rows.
        bins: how many, at most `MOST_BINS`.
        by: a column whose values are counted apart, the `MOST_GROUPS` most frequent of them.
        bounds: first and last edge; what lies outside of them is counted nowhere.
    """
    if not is_count(bins, 1, MOST_BINS):
        raise SettingError(
            Text("{bins} bins: ask for 1 to {most}.", "分箱数为 {bins}：请在 1 到 {most} 之间选择。").format(
                bins=shown_value(bins), most=MOST_BINS
            )
        )
    one = numeric(survey.columns, column)
    finite = " AND abs({0}) < 'infinity'::FLOAT" if one.kind == "number" else " AND {0} IS NOT NULL"
    known = f"FILTER (WHERE TRUE{finite})"
    query = f"SELECT count(*), count(*) {known}, min({{0}}) {known}, max({{0}}) {known} FROM {{rows}}"
    every, finite_ones, *ends = survey.sql(query, where, more=[one]).fetchall()[0]
    if bounds is None:
        bounds = (float(ends[0]), float(ends[1])) if finite_ones else (0.0, 1.0)
    low, high = cut_range(*bounds)
    group = None if by is None else grouping(survey.columns, by)
    place = "least(floor(({0}::DOUBLE - $low) * $scale), $last)::USMALLINT"  # a key of two bytes is counted fastest
    found = survey.sql(
        f"SELECT {'{1}' if group else 'NULL'} AS of_group,"
        f" CASE WHEN {{0}} BETWEEN $low AND $high THEN {place} END AS bin, count(*)"
        f" FROM {{rows}}{finite} GROUP BY of_group, bin",
        where,
        more=[one, *([group] if group else [])],
        low=low,
        high=high,
        last=bins - 1,
        scale=bins / (high - low),
    ).fetchall()
    groups, others = _groups(found) if group else ((None,), 0)
    counts = np.zeros((len(groups), bins), np.int64)
    at = {value: number for number, value in enumerate(groups)}
    for value, bin_, number in found:
        if value in at and bin_ is not None:
            counts[at[value], bin_] = number
    edges = low + np.arange(bins + 1) * ((high - low) / bins)
    return Histogram(edges, counts, groups, others, every - finite_ones)


def _groups(
    found: Iterable[tuple[str | float | bool | None, int | None, int]],
) -> tuple[tuple[str | float | bool | None, ...], int]:
    """The most frequent of the groups whose bins were counted, and how many images have another."""
    totals: Counter[str | float | bool | None] = Counter()
    for value, _, number in found:
        totals[value] += number
    order = sorted(totals, key=lambda value: (-totals[value], value is None, value))
    return tuple(order[:MOST_GROUPS]), sum(totals[value] for value in order[MOST_GROUPS:])
