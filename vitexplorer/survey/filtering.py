"""Conditions as SQL: column names are the survey's own, and everything that a person wrote is a bound parameter.

Bounds of a column of 32-bit floats are first rounded inwards to such floats: which rows are within stays exactly the
same, and the column is compared as it is stored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from vitexplorer.errors import SettingError
from vitexplorer.survey.columns import NO_NUMBERS, Asked
from vitexplorer.survey.conditions import Condition, OneOf, Where, Within
from vitexplorer.words import Text

MOST_VALUES, FEW = 200_000, 1000
"""of one condition, and of one that is written out; a longer list is a table of its own"""
WORDS = {
    "number": Text("a number", "数值"),
    "integer": Text("a number", "数值"),
    "bool": Text("true or false", "真或假"),
    "text": Text("a text", "文本"),
}
LARGEST = 2**62
"""beyond every whole number of a survey"""
FARTHEST = float(np.finfo(np.float32).max)
"""beyond it there is no number to be equal to"""
NO_VALUE = Text(
    "The column {column} holds {kind}: {value!r} is none.", "列 {column} 的内容是{kind}，而 {value!r} 不是。"
)


@dataclass(frozen=True)
class Filter:
    """A condition of SQL with its parameters by name."""

    sql: str
    parameters: Mapping[str, object]


def filtered(where: Where, find: Callable[[str], Asked], written: Callable[[Asked], str]) -> Filter:
    """All conditions together; `find` knows the columns, `written` says how SQL calls one."""
    parts, parameters = [], {}
    for number, condition in enumerate(where):
        one = find(condition.column)
        part = _one(condition, one, written(one), f"where_{number}")
        parts.append(f"({part.sql})")
        parameters |= part.parameters
    return Filter(" AND ".join(parts) or "TRUE", parameters)


def _one(condition: Condition, one: Asked, column: str, name: str) -> Filter:
    if one.kind == "list":
        raise SettingError(
            Text(
                "The column {name} holds a list: ask for one place of it, as in {name}[0,0].",
                "列 {name} 的内容是列表：请查询其中的一个位置，例如 {name}[0,0]。",
            ).format(name=one.name)
        )
    if isinstance(condition, Within):
        return _within(condition, one, column, name)
    values = condition.values if isinstance(condition, OneOf) else (condition.value,)
    if len(values) > MOST_VALUES:
        raise SettingError(
            Text(
                "{count} values are too many for one condition: name at most {most}.",
                "一个条件中的 {count} 个值太多：最多 {most} 个。",
            ).format(count=len(values), most=MOST_VALUES)
        )
    there = [_value(value, one) for value in values if value is not None]
    if len(there) > FEW:
        named, listed = {name: there}, f"SELECT unnest(${name})"
    else:
        named = {f"{name}_{at}": value for at, value in enumerate(there)}
        listed = ", ".join(f"${key}" for key in named)
    parts = [f"{column} IN ({listed})"] if there else []
    nothing = f"{column} IS NULL OR isnan({column})" if one.kind == "number" else f"{column} IS NULL"
    parts += [nothing] if None in values else []
    return Filter(" OR ".join(parts) or "FALSE", named)


def _value(value: object, one: Asked) -> object:
    """A value as the column holds it. Raises SettingError for one of another kind."""
    if isinstance(value, bool):
        fits = one.kind == "bool"
    elif isinstance(value, int | float):
        fits = one.kind in ("number", "integer") and abs(value) <= FARTHEST
    else:
        fits = one.kind == "text" and isinstance(value, str)
    if not fits:
        raise SettingError(NO_VALUE.format(column=one.name, kind=WORDS[one.kind], value=value))
    return float(np.float32(value)) if one.kind == "number" else value


def _within(condition: Within, one: Asked, column: str, name: str) -> Filter:
    if one.kind not in ("number", "integer"):
        raise SettingError(NO_NUMBERS.format(name=one.name))
    low = -math.inf if condition.low is None else condition.low
    high = math.inf if condition.high is None else condition.high
    for end in (low, high):
        if isinstance(end, bool) or not isinstance(end, int | float) or math.isnan(end):
            raise SettingError(NO_VALUE.format(column=one.name, kind=WORDS["number"], value=end))
    low_name, high_name = f"{name}_low", f"{name}_high"
    if one.kind == "number":  # NaN counts as larger than infinity, so that it is never within
        ends = {low_name: _next_float(low, 1), high_name: _next_float(high, -1)}
        return Filter(f"{column} BETWEEN ${low_name}::FLOAT AND ${high_name}::FLOAT", ends)
    low, high = max(low, -LARGEST), min(high, LARGEST)
    ends = {low_name: math.ceil(low), high_name: math.floor(high)}
    return Filter(f"{column} BETWEEN ${low_name}::BIGINT AND ${high_name}::BIGINT", ends)


def _next_float(end: float, inwards: int) -> float:
    """The 32-bit float nearest to `end` that is not outside of it."""
    with np.errstate(over="ignore"):
        near = np.float32(end)
    if math.isfinite(end) and (float(near) - end) * inwards < 0:
        near = np.nextafter(near, np.float32(math.inf * inwards))
    return float(near)
