"""Conditions in the page's address that select images of a survey.

`margin:0.1~0.5;label=fish;feature_cls@-1~2~0~3;group=2`: numbers within bounds, a value, a part of the map of a
feature, a group of alike images.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from vitexplorer.core.text import ExplainedError
from vitexplorer.service.surveys.image_groups import GROUP, within_group
from vitexplorer.service.surveys.map_layouts import within_map
from vitexplorer.service.surveys.words import SURVEY_WORDS

if TYPE_CHECKING:
    from vitexplorer.survey.conditions import Where
    from vitexplorer.survey.opened import Survey


def conditions(survey: Survey, text: str) -> Where:
    """Parse conditions as `conditions.js` writes them; ExplainedError for invalid ones."""
    from vitexplorer.survey.conditions import Equals, Within

    parsed = []
    for part in filter(None, text.split(";")):
        sign = next((character for character in part if character in ":=@"), "")
        name, _, rest = part.partition(sign) if sign else ("", "", "")
        column, numbers = unquote(name), _numbers(rest)
        if sign == "=" and column == GROUP:
            parsed.append(within_group(survey, unquote(rest)))
        elif sign == "=":
            parsed.append(Equals(column, _value(survey, column, unquote(rest))))
        elif sign == ":" and len(numbers) == 2:
            parsed.append(Within(column, *numbers))
        elif sign == "@" and len(numbers) == 4:
            parsed.append(within_map(survey, column, tuple(numbers)))
        else:
            raise ExplainedError(SURVEY_WORDS["survey_wrong"])
    return tuple(parsed)


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
