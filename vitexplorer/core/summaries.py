"""Summaries of records for `print` and Python's prompt, in English.

A summary has at most eight lines: the record's kind and model, shapes and ranges of its arrays, and how to see more.
Records that inherit `Summarised` print it; `described` formats each value, and other types register their format there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import singledispatch
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vitexplorer.core.format import counted, measured
from vitexplorer.core.text import Text

MOST_LINES = 8
MOST_CHARACTERS = 120
"""Characters of the longest line"""


class Summary(NamedTuple):
    """The lines of a record."""

    headline: str
    rows: Iterable[tuple[str, object]] = ()
    """Label and value; rows without a description, and the last of too many rows, are left out"""
    see_more: str = ""
    """Calls and attributes that show more"""

    def __str__(self) -> str:
        rows = [(label, words) for label, value in self.rows if (words := described(value))][: MOST_LINES - 2]
        width = max((len(label) for label, _ in rows), default=0)
        lines = [self.headline, *(f"  {label:{width}} {words}" for label, words in rows), f"  {self.see_more}"]
        return "\n".join(_one_line(line) for line in lines if line.strip())


def _one_line(text: str) -> str:
    """Remove line breaks and control characters, which a file's name may contain, and cut the text to the width."""
    line = "".join(character if character.isprintable() else " " for character in text)
    return line if len(line) <= MOST_CHARACTERS else f"{line[: MOST_CHARACTERS - 1]}…"


class Summarised:
    """A record whose repr is its summary instead of every number in it."""

    _see_more = ""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "__repr__" not in vars(cls):  # otherwise `dataclass` generates one
            cls.__repr__ = Summarised.__repr__

    def __repr__(self) -> str:
        return str(self._summary())

    def _summary(self) -> Summary:
        """Summarise the title and the fields in order; classes override this where their fields read badly."""
        rows = {field.name: getattr(self, field.name) for field in fields(self)}
        title = described(rows.pop("title", None))
        headline = ": ".join(filter(None, (type(self).__name__, title)))
        return Summary(headline, rows.items(), self._see_more)


# ------------------------------------------------------------------------------------------------ values in words


@singledispatch
def described(value: object) -> str:
    """Describe a value in a few words; "" for values without a printed form: None, functions, modules, tensors."""
    return ""


@described.register
def _(value: str | Path) -> str:
    return str(value)


@described.register
def _(value: Text) -> str:
    return value.en


@described.register
def _(value: bool) -> str:
    return "yes" if value else ""


@described.register
def _(value: int | np.integer) -> str:
    return counted(value)


@described.register
def _(value: float | np.floating) -> str:
    return measured(value)


@described.register
def _(value: Summarised) -> str:
    return value._summary().headline


@described.register
def _(value: tuple | list) -> str:
    return ", ".join(filter(None, map(described, value))).replace("., ", ". ")  # between sentences


@described.register
def _(value: Mapping) -> str:
    """Write settings as in Python, without quotes."""
    return ", ".join(f"{name}={setting}" for name, setting in value.items())


@described.register
def array_text(values: np.ndarray, axes: tuple[str, ...] = ()) -> str:
    """Describe shape, type and range: 12 rows × 12 cols float32, 0.00120 to 0.0410, mean 0.00690.

    Args:
        values: an array of any type.
        axes: a word for each of its axes; none for the numbers alone.
    """
    lengths = zip(values.shape, axes or ("",) * values.ndim, strict=True)
    shape = " × ".join(f"{length} {axis}".strip() for length, axis in lengths)
    return ", ".join(filter(None, (f"{shape} {values.dtype}".strip(), _range_text(values))))


def _range_text(values: np.ndarray) -> str:
    if values.dtype == bool:
        return f"{counted(values.sum())} true"
    finite = values[np.isfinite(values)] if np.issubdtype(values.dtype, np.number) else np.zeros(0)
    if not finite.size:
        return ""
    number = counted if np.issubdtype(values.dtype, np.integer) else measured
    text = f"{number(finite.min())} to {number(finite.max())}, mean {measured(finite.mean(dtype=float))}"
    return text if finite.size == values.size else f"{text}, {counted(values.size - finite.size)} not finite"
