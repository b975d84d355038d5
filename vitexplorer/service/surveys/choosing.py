"""Conditions in the page's address that select images of a survey.

`margin:0.1~0.5;label=fish;feature_cls@-1~2~0~3;group=2`: numbers within bounds, a value, a part of the map of a
feature, a group of alike images.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from vitexplorer.core.text import ExplainedError
from vitexplorer.service.surveys.open_surveys import groups_in, map_of
from vitexplorer.service.surveys.words import SURVEY_WORDS
from vitexplorer.survey.conditions import Equals, OneOf, Where, Within

if TYPE_CHECKING:
    from vitexplorer.survey.answers.map_2d import Box
    from vitexplorer.survey.opened import Survey

GROUP, ALONE = "group", "alone"
"""Column of the conditions on groups, which is none of the survey's, and its value for images that fit nowhere"""


@dataclass(frozen=True, repr=False)
class InGroup(OneOf):
    """Condition for the images of a group; a script names the group."""

    number: int | None = None

    def __repr__(self) -> str:
        return f"in_group(survey, {self.number})"


@dataclass(frozen=True, repr=False)
class InMap(OneOf):
    """Condition for the images in a part of a map; a script names the part."""

    feature: str = ""
    box: Box = (0.0, 0.0, 0.0, 0.0)

    def __repr__(self) -> str:
        return f"within_map(survey, {self.feature!r}, {self.box})"


def conditions(survey: Survey, text: str) -> Where:
    """Parse conditions as `conditions.js` writes them; ExplainedError for invalid ones."""
    parsed = []
    for part in filter(None, text.split(";")):
        sign = next((character for character in part if character in ":=@"), "")
        name, _, rest = part.partition(sign) if sign else ("", "", "")
        column, numbers = unquote(name), _numbers(rest)
        if sign == "=" and column == GROUP:
            parsed.append(_within_group(survey, unquote(rest)))
        elif sign == "=":
            parsed.append(Equals(column, _value(survey, column, unquote(rest))))
        elif sign == ":" and len(numbers) == 2:
            parsed.append(Within(column, *numbers))
        elif sign == "@" and len(numbers) == 4:
            parsed.append(_within_map(survey, column, tuple(numbers)))
        else:
            raise ExplainedError(SURVEY_WORDS["survey_wrong"])
    return tuple(parsed)


def counting(text: str, otherwise: int = 0) -> int:
    """Parse a count, or return `otherwise`."""
    return int(text) if text.isdecimal() and len(text) < 10 else otherwise


def _within_group(survey: Survey, key: str) -> InGroup:
    """Select the images of a group by its key in the address; ExplainedError for one that is not there."""
    from vitexplorer.survey.answers.groups import rows_of

    number = None if key == ALONE else counting(key, -1)
    return InGroup("row", rows_of(groups_in(survey), number), number)


def _within_map(survey: Survey, feature: str, box: Box) -> InMap:
    """Select all images of the survey in a part of the map, also those without a point."""
    from vitexplorer.survey.answers.map_2d import rows_within

    laid = map_of(survey, feature)
    return InMap("row", rows_within(laid.rows, laid.places, box), feature, box)


def _numbers(text: str) -> list[float]:
    try:
        return [float(number) for number in text.split("~")]
    except ValueError:
        return []


def _value(survey: Survey, column: str, text: str) -> str | float | bool | None:
    """Parse a value by the kind of its column; "" selects rows without one."""
    kind = survey.asked(column).kind
    if text == "":
        return None
    if kind == "bool":
        return text == "true"
    if kind in ("number", "integer"):
        numbers = _numbers(text)
        if len(numbers) != 1:
            raise ExplainedError(SURVEY_WORDS["survey_wrong"])
        return numbers[0]
    return text
