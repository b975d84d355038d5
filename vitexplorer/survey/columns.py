"""The columns of a survey: what each holds, and how one is named in a question.

No word of a visitor becomes SQL: a name is looked up here, and what is written into a query is the column's own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from vitexplorer.core.registry import unknown_name
from vitexplorer.core.text import SettingError, Text, same

Kind = Literal["number", "integer", "bool", "text", "list"]
ADDRESS = re.compile(r"(.+)\[(\d{1,6}),(\d{1,6})\]", re.ASCII | re.DOTALL)
NO_NUMBERS = Text("The column {name} holds no numbers.", "列 {name} 不是数值列。")


@dataclass(frozen=True)
class Column:
    """One column of the rows."""

    key: str
    kind: Kind
    title: Text
    unit: Text = same("")
    better: Literal["high", "low"] | None = None
    """which end is good, where one is"""
    filters: bool = True
    """whether a person may choose images by it"""
    shape: tuple[int, int] | None = None
    """of a list that is a table: blocks and heads, or rows and columns of a map; row by row"""
    axes: tuple[str, str] | None = None
    """what the two are, words of the glossary in `types.py`"""

    @property
    def is_numeric(self) -> bool:
        """Whether it can be counted in bins and kept within bounds."""
        return self.kind in ("number", "integer")


@dataclass(frozen=True)
class Asked:
    """A column as a question names it: the whole of it, or one place of a list."""

    column: Column
    at: int | None = None
    """place in the list, row by row, from 0"""

    @property
    def kind(self) -> Kind:
        """What one row has of it."""
        return self.column.kind if self.at is None else "number"

    @property
    def name(self) -> str:
        """As a question names it."""
        if self.at is None or self.column.shape is None:
            return self.column.key
        row, col = divmod(self.at, self.column.shape[1])
        return f"{self.column.key}[{row},{col}]"


def kind_of(type_: pa.DataType) -> Kind:
    """What a column of this Arrow type holds."""
    if pa.types.is_list(type_) or pa.types.is_large_list(type_) or pa.types.is_fixed_size_list(type_):
        return "list"
    if pa.types.is_boolean(type_):
        return "bool"
    if pa.types.is_floating(type_):
        return "number"
    return "integer" if pa.types.is_integer(type_) else "text"


def asked(columns: Mapping[str, Column], name: str) -> Asked:
    """The column that a question names. Raises UnknownNameError or SettingError with a sentence."""
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
    (row, col), (rows, cols) = (int(address[2]), int(address[3])), column.shape
    if row >= rows or col >= cols:
        raise SettingError(
            Text(
                "{asked} is outside of {name}, which has {rows} rows of {cols}, counted from 0.",
                "{asked} 超出了 {name} 的范围：共 {rows} 行、每行 {cols} 个，从 0 开始计数。",
            ).format(asked=name, name=column.key, rows=rows, cols=cols)
        )
    return Asked(column, row * cols + col)


def numeric(columns: Mapping[str, Column], name: str) -> Asked:
    """The same, of a column of numbers."""
    one = asked(columns, name)
    if one.kind not in ("number", "integer"):
        raise SettingError(NO_NUMBERS.format(name=name))
    return one


def grouping(columns: Mapping[str, Column], name: str) -> Asked:
    """The same, of a column whose values name groups of images: a text, a truth, a class."""
    one = asked(columns, name)
    if one.kind in ("number", "list"):
        raise SettingError(
            Text("The column {name} has no few values to group by.", "列 {name} 的取值过多，无法用于分组。").format(
                name=one.name
            )
        )
    return one


def quoted(name: str) -> str:
    """A column's own name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'
