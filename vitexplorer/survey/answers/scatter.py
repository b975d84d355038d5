"""Scatter plot of two columns: counts of all images on a grid, and a sample of images as points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from vitexplorer.core.text import SettingError, Text
from vitexplorer.survey.answers.bounds import cut_range, is_count
from vitexplorer.survey.answers.chosen import SMALLEST, hash_bounds
from vitexplorer.survey.columns import finite, grouping, numeric
from vitexplorer.survey.conditions import Where
from vitexplorer.survey.opened import Survey

MOST_POINTS, MOST_CELLS = 20_000, 256
"""Limits for points of the sample, and for cells along one axis"""


@dataclass(frozen=True)
class Scatter:
    """Joint distribution of two columns."""

    density: Int[np.ndarray, "rows cols"]
    """Images in each cell, rows by y, columns by x; a cell includes its lower edges, the last one also the upper"""
    x_edges: Float[np.ndarray, " points"]
    y_edges: Float[np.ndarray, " points"]
    rows: Int[np.ndarray, " images"]
    """Row numbers of the sample"""
    x: Float[np.ndarray, " images"]
    """Values of the sample, like `y`"""
    y: Float[np.ndarray, " images"]
    groups: tuple[str | float | bool | None, ...]
    """Values of the column `by` in the sample; empty without `by`"""
    total: int
    """Number of images that have both values"""


def scatter(
    survey: Survey, x: str, y: str, where: Where = (), most: int = 4000, cells: int = 64, by: str | None = None
) -> Scatter:
    """Compute the joint distribution of two columns.

    The grid counts every image; the points are a simple random sample (the rows with the smallest hashes).

    Args:
        survey: the survey.
        x: a column of numbers.
        y: another column of numbers.
        where: conditions on the rows.
        most: points of the sample, at most `MOST_POINTS`.
        cells: cells along each axis, at most `MOST_CELLS`.
        by: a column whose value is the group of each point.

    Raises:
        SettingError: a number is out of range, or a column is of the wrong kind.
        UnknownNameError: there is no such column.
    """
    if not is_count(most, 0, MOST_POINTS) or not is_count(cells, 1, MOST_CELLS):
        raise SettingError(
            Text(
                "Ask for at most {points} points and {cells} cells along an axis.",
                "最多可取 {points} 个点，每个轴最多 {cells} 格。",
            ).format(points=MOST_POINTS, cells=MOST_CELLS)
        )
    across = numeric(survey.columns, x)
    up = numeric(survey.columns, y)
    group = None if by is None else grouping(survey.columns, by)
    known = f" AND {finite(across, 0)} AND {finite(up, 1)}"
    both = [across, up]
    query = "SELECT count(*), min({0}), max({0}), min({1}), max({1}) FROM {rows}" + known
    total, *ends = survey.sql(query, where, more=both).fetchall()[0]
    ends = ends if total else (0.0, 1.0, 0.0, 1.0)
    (x_low, x_high), (y_low, y_high) = cut_range(*ends[:2]), cut_range(*ends[2:])
    counts = survey.sql(
        f"SELECT ({_place(1, 'y')} * $cells + {_place(0, 'x')})::USMALLINT AS cell, count(*) AS number"
        " FROM {rows}" + known + " GROUP BY cell",
        where,
        more=both,
        x_low=x_low,
        x_scale=cells / (x_high - x_low),
        y_low=y_low,
        y_scale=cells / (y_high - y_low),
        cells=cells,
        last=cells - 1,
    ).fetchnumpy()
    density = np.zeros(cells * cells, np.int64)
    density[np.asarray(counts["cell"], int)] = counts["number"]
    points: list[tuple] = []
    query = f"SELECT row, {{0}}, {{1}}{', {2}' if group else ''} FROM {{rows}}{known}{SMALLEST}"
    for bound in hash_bounds(most, total):
        points = survey.sql(query, where, more=[*both, *([group] if group else [])], bound=bound, most=most).fetchall()
        if len(points) == min(most, total):
            break
    points.sort(key=lambda point: point[0])
    return Scatter(
        density=density.reshape(cells, cells),
        x_edges=x_low + np.arange(cells + 1) * ((x_high - x_low) / cells),
        y_edges=y_low + np.arange(cells + 1) * ((y_high - y_low) / cells),
        rows=np.array([point[0] for point in points], np.int64),
        x=np.array([point[1] for point in points], np.float64),
        y=np.array([point[2] for point in points], np.float64),
        groups=tuple(point[3] for point in points) if group else (),
        total=total,
    )


def _place(number: int, axis: str) -> str:
    """Return the SQL for a number's cell. One two-byte key for both axes halves the time of two keys."""
    return f"least(floor(({{{number}}}::DOUBLE - ${axis}_low) * ${axis}_scale), $last)"
