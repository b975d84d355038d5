"""Groups of a survey's images, found once for all requests, and the condition that selects one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vitexplorer.core.cache import SingleFlight
from vitexplorer.survey.conditions import OneOf

if TYPE_CHECKING:
    from vitexplorer.survey.answers.groups import Groups
    from vitexplorer.survey.opened import Survey

GROUP, ALONE = "group", "alone"
"""Column of the conditions on groups, which is none of the survey's, and its value for images that fit nowhere"""
MOST_SURVEYS = 8
"""Surveys whose groups are cached"""


@dataclass(frozen=True, repr=False)
class InGroup(OneOf):
    """Condition for the images of a group; a script names the group."""

    number: int | None = None

    def __repr__(self) -> str:
        return f"in_group(survey, {self.number})"


_groups: SingleFlight[str, Groups] = SingleFlight(MOST_SURVEYS)


def groups_in(survey: Survey) -> Groups:
    """Find the groups of a survey, or return the cached ones; ExplainedError without features."""
    from vitexplorer.survey.answers import image_groups

    return _groups.of(str(survey.folder), survey.count, lambda: image_groups(survey))


def within_group(survey: Survey, key: str) -> InGroup:
    """Select the images of a group by its key in the address; ExplainedError for one that is not there."""
    from vitexplorer.survey.answers.groups import rows_of

    number = None if key == ALONE else int(key) if key.isdecimal() and len(key) < 10 else -1
    return InGroup("row", rows_of(groups_in(survey), number), number)
