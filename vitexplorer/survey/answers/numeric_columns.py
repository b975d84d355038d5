"""By which numbers can images be chosen?"""

from __future__ import annotations

from vitexplorer.survey.columns import Column
from vitexplorer.survey.opened import Survey

CLASSES = ("predicted", "second")
"""numbers that are names"""


def numeric_columns(survey: Survey) -> tuple[Column, ...]:
    """The columns of numbers that a person may filter by; of lists those with places, to be asked as `name[3,1]`."""
    return tuple(
        column
        for column in survey.columns.values()
        if column.filters
        and column.key not in CLASSES
        and (column.is_numeric or (column.kind == "list" and column.shape is not None))
    )
