"""Mean over images of a view's small maps, cell by cell.

Values that are not finite are left out of the arithmetic mean. Cells are places of the model's input, so the mean shows
where objects lie in these pictures (photographs have their subject in the middle) as much as where the model looks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from vitexplorer.core.text import Text
from vitexplorer.survey.answers.chosen import chosen
from vitexplorer.survey.answers.moments import moments_of
from vitexplorer.survey.columns import Column, column_among
from vitexplorer.survey.conditions import Where
from vitexplorer.survey.opened import Survey

MOST_READ = 50_000
"""Limit for images; the mean of so many is known to 1/200 of a standard deviation"""
NO_MAPS = Text("This survey has no maps of views.", "本次普查没有保存任何视图的热图。")


@dataclass(frozen=True)
class MeanMap:
    """Mean over images of a view's map."""

    values: Float[np.ndarray, "rows cols"]
    """Means in the view's unit; NaN if no image has a number"""
    counts: Int[np.ndarray, "rows cols"]
    """Number of images in each mean"""
    column: Column
    notes: tuple[Text, ...]
    """Note on the sample, if there is one"""


def maps_of(survey: Survey) -> tuple[Column, ...]:
    """Return the columns of maps, made by views."""
    columns = survey.columns.values()
    return tuple(column for column in columns if column.key.startswith("view_") and column.shape is not None)


def mean_map(survey: Survey, column: str, where: Where = ()) -> MeanMap:
    """Compute the mean of a view's map over images; of more than `MOST_READ` a random sample is read.

    Args:
        survey: the survey.
        column: name of a column of maps, such as `view_attention_rollout`.
        where: conditions on the images.

    Raises:
        UnsupportedError: the survey has no maps.
        UnknownNameError: there is no such column of maps.
    """
    maps = column_among(maps_of(survey), column, NO_MAPS)
    rows = chosen(survey, where, MOST_READ)
    moments = moments_of(survey, maps, rows.rows)
    return MeanMap(moments.mean.reshape(maps.shape), moments.counts.reshape(maps.shape), maps, rows.notes)


def map_of_image(survey: Survey, column: str, row: int) -> Float[np.ndarray, "rows cols"] | None:
    """Return the map of the image in a row, or None. Raises UnsupportedError and UnknownNameError, see `mean_map`."""
    rows, cols = column_among(maps_of(survey), column, NO_MAPS).shape
    shard, place = divmod(row, survey.card.rows_per_shard)
    if row < 0 or shard not in survey.shards or place >= len(survey.shard_table(shard, ["path"])):
        return None
    (values,) = survey.lists_at(column, np.array([row]))
    return values.reshape(rows, cols) if values.size == rows * cols and np.isfinite(values).any() else None
