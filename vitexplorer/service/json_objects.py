"""Reader of JSON objects from outside, stricter than each of the parsers that read them later.

Python, pydantic and gradio each break on something that another accepts: brackets nested by the thousand, half of a
surrogate pair, NaN, an integer of thousands of digits. A name that occurs twice in an object is refused too, since a
check of the first value would miss the second.
"""

from __future__ import annotations

import json
import math
from typing import Any

from pydantic_core import from_json

from vitexplorer.core.text import ExplainedError, Text, same

_NO_OBJECT = Text("This must be a JSON object: {reason}.", "此处须为 JSON 对象：{reason}。")
_OTHER = Text("it is another value", "内容是其他类型的值")
_TWICE = Text("the name {name} is in it twice", "名称 {name} 出现了两次")
_TOO_LARGE = Text("the number {number} is too large", "数值 {number} 过大")
_MOST_CHARACTERS = 50
"""Characters of the input that a message repeats"""


class NoObjectError(ExplainedError):
    """Raised for input that is no JSON object."""


def read_object(sent: str | bytes) -> dict[str, Any]:
    """Read an object, at most 200 levels deep, with finite numbers and valid Unicode; else NoObjectError."""
    try:
        from_json(sent, allow_inf_nan=False)
    except ValueError as error:
        raise NoObjectError(_NO_OBJECT.format(reason=same(str(error)))) from None
    value = json.loads(sent, object_pairs_hook=_once, parse_float=_finite)
    if not isinstance(value, dict):
        raise NoObjectError(_NO_OBJECT.format(reason=_OTHER))
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique: dict[str, Any] = {}
    for name, value in pairs:
        if name in unique:
            raise NoObjectError(_NO_OBJECT.format(reason=_TWICE.format(name=repr(name)[:_MOST_CHARACTERS])))
        unique[name] = value
    return unique


def _finite(number: str) -> float:
    if not math.isfinite(float(number)):
        raise NoObjectError(_NO_OBJECT.format(reason=_TOO_LARGE.format(number=number[:_MOST_CHARACTERS])))
    return float(number)
