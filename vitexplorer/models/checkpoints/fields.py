"""A configuration that a library wrote, read field by field: what is of another kind is said with file and field.

A field that is null is taken as not written, as the libraries themselves do.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vitexplorer.core.text import Text, same
from vitexplorer.models.checkpoints.misfit import MisfitError

MOST = 2**31
"""of any whole number that a configuration has"""
MOST_PIXELS = 2048
"""of a side of an image"""
_LONGEST, _MANY = 60, 4
"""characters of a value, and values of a list, that a sentence quotes"""

_WRONG = Text("{file} says {field} = {value}; expected {expected}", "{file} 中 {field} = {value}；应为{expected}")
WHOLE = Text("a whole number from {least} to {most}", "{least} 到 {most} 的整数")
_NUMBER = Text("a number above 0", "大于 0 的数")
_FLAG = Text("true or false", "true 或 false")
_WORD = Text("a word", "一个词")
_SECTION = Text("an object in braces", "花括号对象")
_LIST = Text("a list of {count} numbers", "含 {count} 个数的列表")
_LISTED = Text("a list of whole numbers from {least} to {most}", "由 {least} 到 {most} 的整数组成的列表")
_PAIR = Text("{count} whole numbers from {least} to {most}", "{count} 个 {least} 到 {most} 的整数")
_ONE_OF = Text("one of {names}", "{names} 之一")


@dataclass(frozen=True)
class Fields:
    """One object of a configuration; each question gives None where the field is not written, or raises MisfitError."""

    said: Mapping[str, Any]
    file: str
    """whose it is, for messages"""

    def refusal(self, field: str, expected: Text) -> MisfitError:
        """The error for the value of a field."""
        return MisfitError(
            _WRONG.format(file=self.file, field=field, value=_quoted(self.said.get(field)), expected=expected)
        )

    def whole(self, field: str, least: int = 1, most: int = MOST) -> int | None:
        """A whole number."""
        value = self.said.get(field)
        if value is not None and not _is_whole(value, least, most):
            raise self.refusal(field, WHOLE.format(least=least, most=most))
        return value

    def wholes(self, field: str, least: int = 1, most: int = MOST, count: int | None = None) -> Any:
        """A list of whole numbers, as a tuple."""
        value = self.said.get(field)
        if value is None:
            return None
        is_list = isinstance(value, list) and value and count in (None, len(value))
        if not is_list or not all(_is_whole(one, least, most) for one in value):
            expected = _PAIR if count else _LISTED
            raise self.refusal(field, expected.format(count=count, least=least, most=most))
        return tuple(value)

    def size(self, field: str) -> int | tuple[int, int] | None:
        """Height and width of an image that can be, or one number for both: tables would be made for it."""
        if not isinstance(self.said.get(field), list):
            return self.whole(field, most=MOST_PIXELS)
        height, width = self.wholes(field, count=2, most=MOST_PIXELS)
        return height, width

    def number(self, field: str) -> float | None:
        """A finite number above 0."""
        value = self.said.get(field)
        if value is not None and not (_is_number(value) and value > 0):
            raise self.refusal(field, _NUMBER)
        return None if value is None else float(value)

    def numbers(self, field: str, count: int) -> tuple[float, ...] | None:
        """A list of finite numbers; one alone stands for all of them."""
        value = self.said.get(field)
        if value is None:
            return None
        if _is_number(value):
            value = [value] * count
        if not (isinstance(value, list) and len(value) == count and all(map(_is_number, value))):
            raise self.refusal(field, _LIST.format(count=count))
        return tuple(map(float, value))

    def flag(self, field: str) -> bool | None:
        """True or false."""
        value = self.said.get(field)
        if value is not None and not isinstance(value, bool):
            raise self.refusal(field, _FLAG)
        return value

    def word(self, field: str) -> str | None:
        """A word, whichever."""
        value = self.said.get(field)
        if value is not None and not isinstance(value, str):
            raise self.refusal(field, _WORD)
        return value

    def one_of(self, field: str, meanings: Mapping[Any, Any]) -> Any:
        """What a value stands for, of those that are known."""
        value = self.said.get(field)
        if value is None:
            return None
        if not isinstance(value, str | int) or isinstance(value, bool) or value not in meanings:
            raise self.refusal(field, _ONE_OF.format(names=same(", ".join(map(str, meanings)))))
        return meanings[value]

    def section(self, field: str) -> Fields | None:
        """An object within this one."""
        value = self.said.get(field)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise self.refusal(field, _SECTION)
        return Fields(value, self.file)


def _is_whole(value: Any, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_number(value: Any) -> bool:
    """JSON as Python reads it also knows NaN, Infinity and whole numbers that no float holds."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return abs(value) < MOST if isinstance(value, int) else math.isfinite(value)


def _quoted(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{…}"
    if isinstance(value, list):
        some = ", ".join("[…]" if isinstance(one, list) else _quoted(one) for one in value[:_MANY])
        return f"[{some}, …]" if len(value) > _MANY else f"[{some}]"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
