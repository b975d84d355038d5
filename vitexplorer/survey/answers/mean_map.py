"""Where does a view look on the average? The small maps that a view has of each image, their mean cell by cell.

Arithmetic mean over the images that have the map, each cell by itself; what is not a finite number is left out. Cells
are places of the picture that the model got, so that a mean says where things lie in these pictures (photographs have
their subject in the middle) as much as where the model looks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from vitexplorer.core.registry import unknown_name
from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.survey.answers.chosen import by_file, chosen
from vitexplorer.survey.answers.moments import Moments
from vitexplorer.survey.columns import Column
from vitexplorer.survey.conditions import Where
from vitexplorer.survey.opened import Survey

MOST_READ = 50_000
"""images; the mean of so many is known to 1/200 of a standard deviation"""


@dataclass(frozen=True)
class MeanMap:
    """Mean over images of a view's map."""

    values: Float[np.ndarray, "rows cols"]
    """in the view's unit; NaN where no image has a number"""
    counts: Int[np.ndarray, "rows cols"]
    """images that each mean rests on"""
    column: Column
    notes: tuple[Text, ...]
    """that a sample was read, where one was"""


def maps_of(survey: Survey) -> tuple[Column, ...]:
    """The columns that hold a map of each image, of views that were asked."""
    return tuple(one for one in survey.columns.values() if one.key.startswith("view_") and one.shape is not None)


def mean_map(survey: Survey, column: str, where: Where = ()) -> MeanMap:
    """Mean of a view's map over images; of more than `MOST_READ` a random sample is read.

    Args:
        survey: which survey.
        column: of maps, as `view_attention_rollout`.
        where: which images.

    Raises UnsupportedError in a survey without maps, UnknownNameError for another column.
    """
    one = _map_named(survey, column)
    assert one.shape is not None
    rows, cells = chosen(survey, where, MOST_READ), one.shape[0] * one.shape[1]
    moments = Moments(cells)
    for piece in by_file(survey, rows.rows):
        maps = survey.lists_at(column, piece)
        if maps.shape[1] == cells:  # a file whose images all failed has none
            moments.add(maps)
    return MeanMap(moments.mean.reshape(one.shape), moments.counts.reshape(one.shape), one, rows.notes)


def map_of_image(survey: Survey, column: str, row: int) -> Float[np.ndarray, "rows cols"] | None:
    """The map of the image in a row of the survey; None where it has none. Raises as `mean_map`."""
    one = _map_named(survey, column)
    assert one.shape is not None
    shard, place = divmod(row, survey.card.rows_per_shard)
    if row < 0 or shard not in survey.shards or place >= len(survey.shard_table(shard, ["path"])):
        return None
    (found,) = survey.lists_at(column, np.array([row]))
    return found.reshape(one.shape) if found.size == one.shape[0] * one.shape[1] and np.isfinite(found).any() else None


def _map_named(survey: Survey, column: str) -> Column:
    known = {one.key: one for one in maps_of(survey)}
    if not known:
        raise UnsupportedError(Text("This survey has no maps of views.", "本次普查没有视图的图。"))
    if column not in known:
        raise unknown_name("column", column, known)
    return known[column]
