"""Conditions as SQL: column names are the survey's own, and all user input is passed as bound parameters.

Bounds of a column of 32-bit floats are rounded inwards to such floats: the same rows match, and the column is compared
as stored. A number that an integer column cannot hold equals none of its rows; such a bound matches all or none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np

from vitexplorer.core.text import SettingError, Text
from vitexplorer.survey.columns import NO_NUMBERS, NUMERIC, Asked
from vitexplorer.survey.conditions import Condition, OneOf, Where, Within

MOST_VALUES, FEW = 200_000, 1000
"""Limit for the values of a condition, and for those written as parameters; longer lists are passed as one array"""
WORDS = {
    "number": Text("a number", "数值"),
    "integer": Text("a number", "数值"),
    "bool": Text("true or false", "真或假"),
    "text": Text("a text", "文本"),
}
LEAST, MOST = -(2**63), 2**63 - 1
"""Range of whole numbers in DuckDB, which no column exceeds"""
FARTHEST = float(np.finfo(np.float32).max)
"""Largest 32-bit float; no stored number is larger"""
BEYOND = 1e39
"""Number that as a 32-bit float is infinite; larger bounds are clipped to it"""
MOST_QUOTED = 100
"""Limit for the letters of a value quoted in a sentence"""
NO_VALUE = Text(
    "The column {column} holds {kind}, which {value} is not.", "列 {column} 的内容是{kind}，而 {value} 不是。"
)


@dataclass(frozen=True)
class Filter:
    """SQL condition with its named parameters."""

    sql: str
    parameters: Mapping[str, object]


def filtered(where: Where, find: Callable[[str], Asked], written: Callable[[Asked], str]) -> Filter:
    """Join all conditions; `find` looks up a column by name, `written` returns its SQL expression."""
    parts, parameters = [], {}
    for number, condition in enumerate(where):
        asked = find(condition.column)
        part = _condition(condition, asked, written(asked), f"where_{number}")
        parts.append(f"({part.sql})")
        parameters |= part.parameters
    return Filter(" AND ".join(parts) or "TRUE", parameters)


def _condition(condition: Condition, asked: Asked, column: str, name: str) -> Filter:
    if asked.kind == "list":
        raise SettingError(
            Text(
                "The column {name} holds a list: ask for one place of it, as in {name}[0,0].",
                "列 {name} 的内容是列表：请查询其中的一个位置，例如 {name}[0,0]。",
            ).format(name=asked.name)
        )
    if isinstance(condition, Within):
        return _within(condition, asked, column, name)
    values = condition.values if isinstance(condition, OneOf) else (condition.value,)
    if isinstance(values, str) or not isinstance(values, Collection):
        raise _no_value(asked, values)
    if len(values) > MOST_VALUES:
        raise SettingError(
            Text(
                "{count} values are too many for one condition: name at most {most}.",
                "一个条件中的 {count} 个值太多：最多 {most} 个。",
            ).format(count=len(values), most=MOST_VALUES)
        )
    there = [held for value in values if value is not None for held in _held(value, asked)]
    if len(there) > FEW:
        named, listed = {name: there}, f"SELECT unnest(${name})"
    else:
        named = {f"{name}_{at}": value for at, value in enumerate(there)}
        listed = ", ".join(f"${key}" for key in named)
    parts = [f"{column} IN ({listed})"] if there else []
    nothing = f"{column} IS NULL OR isnan({column})" if asked.kind == "number" else f"{column} IS NULL"
    parts += [nothing] if None in values else []
    return Filter(" OR ".join(parts) or "FALSE", named)


def _held(value: object, asked: Asked) -> list[object]:
    """Return [value as stored], or [] if the column cannot store it. Raises SettingError for another kind of value."""
    if isinstance(value, bool):
        fits = asked.kind == "bool"
    elif isinstance(value, int | float):
        fits = asked.kind in NUMERIC and abs(value) <= FARTHEST
    else:
        fits = asked.kind == "text" and isinstance(value, str)
    if not fits:
        raise _no_value(asked, value)
    if asked.kind == "number":
        return [float(np.float32(value))]
    if asked.kind == "integer":
        return [int(value)] if int(value) == value and LEAST <= value <= MOST else []
    if asked.kind == "text" and value != value.encode(errors="ignore").decode():
        return []  # every text of a column can be encoded
    return [value]


def _no_value(asked: Asked, value: object) -> SettingError:
    return SettingError(NO_VALUE.format(column=asked.name, kind=WORDS[asked.kind], value=quote_value(value)))


def quote_value(value: object) -> str:
    """Quote a value for a sentence; very long whole numbers in hexadecimal, as Python refuses to print them."""
    long = isinstance(value, int) and abs(value) > MOST
    return (hex(value) if long else repr(value))[:MOST_QUOTED]


def _within(condition: Within, asked: Asked, column: str, name: str) -> Filter:
    if asked.kind not in NUMERIC:
        raise SettingError(NO_NUMBERS.format(name=asked.name))
    low = -math.inf if condition.low is None else condition.low
    high = math.inf if condition.high is None else condition.high
    for end in (low, high):
        if isinstance(end, bool) or not isinstance(end, int | float) or end != end:
            raise _no_value(asked, end)
    low_name, high_name = f"{name}_low", f"{name}_high"
    if asked.kind == "number":  # NaN counts as larger than infinity, so that it is never within
        ends = {low_name: _next_float(low, 1), high_name: _next_float(high, -1)}
        return Filter(f"{column} BETWEEN ${low_name}::FLOAT AND ${high_name}::FLOAT", ends)
    if low > MOST or high < LEAST:
        return Filter("FALSE", {})
    ends = {low_name: math.ceil(max(low, LEAST)), high_name: math.floor(min(high, MOST))}
    return Filter(f"{column} BETWEEN ${low_name}::BIGINT AND ${high_name}::BIGINT", ends)


def _next_float(end: float, inwards: int) -> float:
    """Return the 32-bit float nearest to `end` on its inner side."""
    with np.errstate(over="ignore"):
        near = np.float32(min(max(end, -BEYOND), BEYOND))
    if float(near) < end if inwards > 0 else float(near) > end:
        near = np.nextafter(near, np.float32(math.inf * inwards))
    return float(near)
