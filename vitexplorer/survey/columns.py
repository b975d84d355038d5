"""Columns of a survey, their description, and their names in a query.

User input never becomes SQL: a name is looked up here, and the query contains the column's own name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import pyarrow as pa

from vitexplorer.core.registry import unknown_name
from vitexplorer.core.text import SettingError, Text, UnsupportedError, same

Kind = Literal["number", "integer", "bool", "text", "list"]
NUMERIC = ("number", "integer")
ADDRESS = re.compile(r"(.+)\[(\d{1,6}),(\d{1,6})\]", re.ASCII | re.DOTALL)
NO_NUMBERS = Text("The column {name} holds no numbers.", "列 {name} 不是数值列。")


@dataclass(frozen=True)
class Described:
    """Description of a column, as it stands on the card; the type is in the files themselves."""

    key: str
    title: Text
    unit: Text = same("")
    better: Literal["high", "low"] | None = None
    """Good direction, if there is one"""
    filters: bool = True
    """True if images may be filtered by it"""
    shape: tuple[int, int] | None = None
    """Shape of a list that is a table, row by row: (blocks, heads), or (rows, cols) of a map"""
    axes: tuple[str, str] | None = None
    """Names of the two axes, from the glossary in `types.py`"""


@dataclass(frozen=True)
class Column(Described):
    """Column of the rows of an opened survey."""

    kind: Kind = field(kw_only=True)


@dataclass(frozen=True)
class Asked:
    """Column named in a query: the whole column, or one place of a list."""

    column: Column
    at: int | None = None
    """Index in the list, row by row, from 0; None for the whole column"""

    @property
    def kind(self) -> Kind:
        """Kind of value in a row."""
        return self.column.kind if self.at is None else "number"

    @property
    def name(self) -> str:
        """Name in a query."""
        if self.at is None or self.column.shape is None:
            return self.column.key
        row, col = divmod(self.at, self.column.shape[1])
        return f"{self.column.key}[{row},{col}]"


def kind_of(type_: pa.DataType) -> Kind:
    """Return the kind of a column with this Arrow type."""
    if pa.types.is_list(type_) or pa.types.is_large_list(type_) or pa.types.is_fixed_size_list(type_):
        return "list"
    if pa.types.is_boolean(type_):
        return "bool"
    if pa.types.is_floating(type_):
        return "number"
    return "integer" if pa.types.is_integer(type_) else "text"


def asked(columns: Mapping[str, Column], name: str) -> Asked:
    """Look up the column that a query names. Raises UnknownNameError or SettingError."""
    address = ADDRESS.fullmatch(name)
    column = columns.get(address[1] if address else name)
    if column is None:
        raise unknown_name("column", name, columns)
    if address is None:
        return Asked(column)
    if column.shape is None:
        raise SettingError(
            Text(
                "The column {name} is no table: it has no places to ask for.", "列 {name} 不是表格，无法按位置查询。"
            ).format(name=column.key)
        )
    row, col = int(address[2]), int(address[3])
    rows, cols = column.shape
    if row >= rows or col >= cols:
        raise SettingError(
            Text(
                "{asked} is outside of {name}, which has {rows} rows of {cols}, counted from 0.",
                "{asked} 超出了 {name} 的范围：共 {rows} 行、每行 {cols} 个，从 0 开始计数。",
            ).format(asked=name, name=column.key, rows=rows, cols=cols)
        )
    return Asked(column, row * cols + col)


def numeric(columns: Mapping[str, Column], name: str) -> Asked:
    """Look up a column of numbers. Raises UnknownNameError or SettingError."""
    column = asked(columns, name)
    if column.kind not in NUMERIC:
        raise SettingError(NO_NUMBERS.format(name=name))
    return column


def grouping(columns: Mapping[str, Column], name: str) -> Asked:
    """Look up a column whose values form groups: texts, booleans or classes.

    Raises UnknownNameError or SettingError.
    """
    column = asked(columns, name)
    if column.kind in ("number", "list"):
        raise SettingError(
            Text("The column {name} has too many values to group by.", "列 {name} 的取值过多，无法用于分组。").format(
                name=column.name
            )
        )
    return column


def column_among(columns: Iterable[Column], name: str | None, none: Text) -> Column:
    """Look up a column, None for the first. Raises UnknownNameError, or UnsupportedError(none) without a column."""
    known = {column.key: column for column in columns}
    if not known:
        raise UnsupportedError(none)
    if name is None:
        return next(iter(known.values()))
    if name not in known:
        raise unknown_name("column", name, known)
    return known[name]


def finite(column: Asked, number: int) -> str:
    """Return the SQL condition that the column `{number}` of a query has a finite number."""
    return f"abs({{{number}}}) < 'infinity'::FLOAT" if column.kind == "number" else f"{{{number}}} IS NOT NULL"


def quoted(name: str) -> str:
    """Quote a column name for SQL."""
    return '"' + name.replace('"', '""') + '"'
