"""Number of matching images."""

from __future__ import annotations

from vitexplorer.survey.conditions import Where
from vitexplorer.survey.opened import Survey


def count(survey: Survey, where: Where = ()) -> int:
    """Count the rows that match every condition, unreadable images included."""
    return int(survey.sql("SELECT count(*) FROM {rows}", where).fetchall()[0][0])
