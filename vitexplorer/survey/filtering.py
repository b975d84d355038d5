"""Conditions as SQL: column names are the survey's own, and everything that a person wrote is a bound parameter.

Bounds of a column of 32-bit floats are first rounded inwards to such floats: which rows are within stays exactly the
same, and the column is compared as it is stored. A number that a column of whole numbers cannot hold is equal to none
of its rows; a bound that it cannot hold leaves all of them or none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np

from vitexplorer.core.text import SettingError, Text
from vitexplorer.survey.columns import NO_NUMBERS, Asked
from vitexplorer.survey.conditions import Condition, OneOf, Where, Within

MOST_VALUES, FEW = 200_000, 1000
"""of one condition, and of one that is written out; a longer list is a table of its own"""
WORDS = {
    "number": Text("a number", "数值"),
    "integer": Text("a number", "数值"),
    "bool": Text("true or false", "真或假"),
    "text": Text("a text", "文本"),
}
LEAST, MOST = -(2**63), 2**63 - 1
"""whole numbers that DuckDB holds; no column has any beyond"""
FARTHEST = float(np.finfo(np.float32).max)
"""beyond it there is no number to be equal to"""
BEYOND = 1e39
"""which as a 32-bit float is infinite, as is any number beyond it"""
MOST_SHOWN = 100
"""letters of a value that a sentence repeats"""
NO_VALUE = Text("The column {column} holds {kind}: {value} is none.", "列 {column} 的内容是{kind}，而 {value} 不是。")


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
    if isinstance(values, str) or not isinstance(values, Collection):
        raise _no_value(one, values)
    if len(values) > MOST_VALUES:
        raise SettingError(
            Text(
                "{count} values are too many for one condition: name at most {most}.",
                "一个条件中的 {count} 个值太多：最多 {most} 个。",
            ).format(count=len(values), most=MOST_VALUES)
        )
    there = [held for value in values if value is not None for held in _held(value, one)]
    if len(there) > FEW:
        named, listed = {name: there}, f"SELECT unnest(${name})"
    else:
        named = {f"{name}_{at}": value for at, value in enumerate(there)}
        listed = ", ".join(f"${key}" for key in named)
    parts = [f"{column} IN ({listed})"] if there else []
    nothing = f"{column} IS NULL OR isnan({column})" if one.kind == "number" else f"{column} IS NULL"
    parts += [nothing] if None in values else []
    return Filter(" OR ".join(parts) or "FALSE", named)


def _held(value: object, one: Asked) -> list[object]:
    """A value as the column holds it, none where it cannot. Raises SettingError for one of another kind."""
    if isinstance(value, bool):
        fits = one.kind == "bool"
    elif isinstance(value, int | float):
        fits = one.kind in ("number", "integer") and abs(value) <= FARTHEST
    else:
        fits = one.kind == "text" and isinstance(value, str)
    if not fits:
        raise _no_value(one, value)
    if one.kind == "number":
        return [float(np.float32(value))]
    if one.kind == "integer":
        return [int(value)] if int(value) == value and LEAST <= value <= MOST else []
    return [value] if one.kind == "bool" or _is_unicode(value) else []


def _is_unicode(text: str) -> bool:
    """Whether it can be written as UTF-8, as every text of a column is."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _no_value(one: Asked, value: object) -> SettingError:
    return SettingError(NO_VALUE.format(column=one.name, kind=WORDS[one.kind], value=shown_value(value)))


def shown_value(value: object) -> str:
    """What somebody asked for, as a sentence repeats it; Python writes whole numbers of so many digits alone."""
    long = isinstance(value, int) and abs(value) > MOST
    return (hex(value) if long else repr(value))[:MOST_SHOWN]


def _within(condition: Within, one: Asked, column: str, name: str) -> Filter:
    if one.kind not in ("number", "integer"):
        raise SettingError(NO_NUMBERS.format(name=one.name))
    low = -math.inf if condition.low is None else condition.low
    high = math.inf if condition.high is None else condition.high
    for end in (low, high):
        if isinstance(end, bool) or not isinstance(end, int | float) or end != end:
            raise _no_value(one, end)
    low_name, high_name = f"{name}_low", f"{name}_high"
    if one.kind == "number":  # NaN counts as larger than infinity, so that it is never within
        ends = {low_name: _next_float(low, 1), high_name: _next_float(high, -1)}
        return Filter(f"{column} BETWEEN ${low_name}::FLOAT AND ${high_name}::FLOAT", ends)
    if low > MOST or high < LEAST:
        return Filter("FALSE", {})
    ends = {low_name: math.ceil(max(low, LEAST)), high_name: math.floor(min(high, MOST))}
    return Filter(f"{column} BETWEEN ${low_name}::BIGINT AND ${high_name}::BIGINT", ends)


def _next_float(end: float, inwards: int) -> float:
    """The 32-bit float nearest to `end` that is not outside of it."""
    with np.errstate(over="ignore"):
        near = np.float32(min(max(end, -BEYOND), BEYOND))
    if float(near) < end if inwards > 0 else float(near) > end:
        near = np.nextafter(near, np.float32(math.inf * inwards))
    return float(near)
