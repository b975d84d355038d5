"""Typed access to the fields of a library's configuration; a wrong type is an error that names file and field.

A null field counts as missing, as in the libraries themselves.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from vitexplorer.core.text import Text, same
from vitexplorer.models.checkpoints.misfit import MisfitError

MOST = 2**31
"""Limit of every whole number in a configuration"""
MOST_PIXELS = 2048
"""Most pixels of an image's side"""
_LONGEST, _MANY = 60, 4
"""Most characters of a value, and most values of a list, that a message quotes"""

_WRONG = Text("{file} says {field} = {value}; expected {expected}", "{file} 中 {field} = {value}；应为：{expected}")
INTEGER = Text("a whole number from {least} to {most}", "{least} 到 {most} 的整数")
_NUMBER = Text("a number above 0", "大于 0 的数")
_FLAG = Text("true or false", "true 或 false")
_SECTION = Text("a JSON object", "JSON 对象")
_LIST = Text("a list of {count} numbers", "含 {count} 个数的列表")
_LISTED = Text("a list of whole numbers from {least} to {most}", "由 {least} 到 {most} 的整数组成的列表")
_PAIR = Text("{count} whole numbers from {least} to {most}", "{count} 个 {least} 到 {most} 的整数")
_ONE_OF = Text("one of {names}", "{names} 之一")


@dataclass(frozen=True)
class Fields:
    """One object of a configuration; methods return None for a missing field and raise MisfitError for a wrong one."""

    values: Mapping[str, Any]
    file: str
    """File name for messages"""

    def refusal(self, field: str, expected: Text) -> MisfitError:
        """Make the error for the value of a field."""
        return MisfitError(
            _WRONG.format(file=self.file, field=field, value=_quoted(self.values.get(field)), expected=expected)
        )

    def _checked(self, field: str, is_valid: Callable[[Any], bool], expected: Text) -> Any:
        value = self.values.get(field)
        if value is not None and not is_valid(value):
            raise self.refusal(field, expected)
        return value

    def integer(self, field: str, least: int = 1, most: int = MOST) -> int | None:
        """Return a whole number from `least` to `most`."""
        expected = INTEGER.format(least=least, most=most)
        return self._checked(field, lambda value: _is_integer(value, least, most), expected)

    def integers(self, field: str, least: int = 1, most: int = MOST, count: int | None = None) -> Any:
        """Return a list of whole numbers as a tuple, of length `count` if given."""

        def is_valid(value: Any) -> bool:
            is_list = isinstance(value, list) and value and count in (None, len(value))
            return bool(is_list) and all(_is_integer(item, least, most) for item in value)

        expected = (_PAIR if count else _LISTED).format(count=count, least=least, most=most)
        value = self._checked(field, is_valid, expected)
        return None if value is None else tuple(value)

    def size(self, field: str) -> int | tuple[int, int] | None:
        """Return height and width in pixels, or one number for both; bounded, since tables are built for it."""
        if not isinstance(self.values.get(field), list):
            return self.integer(field, most=MOST_PIXELS)
        height, width = self.integers(field, count=2, most=MOST_PIXELS)
        return height, width

    def number(self, field: str) -> float | None:
        """Return a finite number above 0."""
        value = self._checked(field, lambda value: _is_number(value) and value > 0, _NUMBER)
        return None if value is None else float(value)

    def numbers(self, field: str, count: int) -> tuple[float, ...] | None:
        """Return `count` finite numbers; a single number is repeated."""
        value = self.values.get(field)
        if _is_number(value):
            return (float(value),) * count
        self._checked(
            field,
            lambda value: isinstance(value, list) and len(value) == count and all(map(_is_number, value)),
            _LIST.format(count=count),
        )
        return None if value is None else tuple(map(float, value))

    def flag(self, field: str) -> bool | None:
        """Return true or false."""
        return self._checked(field, lambda value: isinstance(value, bool), _FLAG)

    def one_of(self, field: str, meanings: Mapping[Any, Any]) -> Any:
        """Return the meaning of a value that must be a key of `meanings`."""

        def is_valid(value: Any) -> bool:
            return isinstance(value, str | int) and not isinstance(value, bool) and value in meanings

        value = self._checked(field, is_valid, _ONE_OF.format(names=same(", ".join(map(str, meanings)))))
        return None if value is None else meanings[value]

    def section(self, field: str) -> Fields | None:
        """Return an object within this one."""
        value = self._checked(field, lambda value: isinstance(value, Mapping), _SECTION)
        return None if value is None else Fields(value, self.file)


def _is_integer(value: Any, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_number(value: Any) -> bool:
    """Return True for a finite number; Python's JSON also reads NaN, Infinity and integers too large for a float."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return abs(value) < MOST if isinstance(value, int) else math.isfinite(value)


def _quoted(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{…}"
    if isinstance(value, list):
        some = ", ".join("[…]" if isinstance(item, list) else _quoted(item) for item in value[:_MANY])
        return f"[{some}, …]" if len(value) > _MANY else f"[{some}]"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
