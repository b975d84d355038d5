"""Columns of numbers that images may be filtered by."""

from __future__ import annotations

from vitexplorer.survey.columns import Column
from vitexplorer.survey.opened import Survey

CLASSES = ("predicted", "second")
"""Columns of class indices, whose numbers are names"""


def numeric_columns(survey: Survey) -> tuple[Column, ...]:
    """Return the columns of numbers that may be filtered by, and list columns with a shape, used as `name[3,1]`."""
    return tuple(
        column
        for column in survey.columns.values()
        if column.filters
        and column.key not in CLASSES
        and (column.is_numeric or (column.kind == "list" and column.shape is not None))
    )
