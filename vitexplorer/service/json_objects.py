"""The one reader of JSON from outside: an object, or a sentence.

What passes is read by Python, pydantic and gradio alike. Each of them breaks on something that another one takes:
brackets nested by the thousand, half of a surrogate pair, NaN, a whole number of thousands of digits; and of a name
that stands in an object twice each has the last value, which whoever checked the first does not know.
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
_SHOWN = 50
"""letters of what was sent that a sentence repeats"""


class NoObjectError(ExplainedError):
    """What came is no JSON object."""


def read_object(sent: str | bytes) -> dict[str, Any]:
    """The object; at most 200 values deep, its numbers finite, its texts Unicode. Raises NoObjectError."""
    try:
        from_json(sent, allow_inf_nan=False)
    except ValueError as error:
        raise NoObjectError(_NO_OBJECT.format(reason=same(str(error)))) from None
    found = json.loads(sent, object_pairs_hook=_once, parse_float=_finite)
    if not isinstance(found, dict):
        raise NoObjectError(_NO_OBJECT.format(reason=_OTHER))
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise NoObjectError(_NO_OBJECT.format(reason=_TWICE.format(name=repr(name)[:_SHOWN])))
        found[name] = value
    return found


def _finite(number: str) -> float:
    if not math.isfinite(float(number)):
        raise NoObjectError(_NO_OBJECT.format(reason=_TOO_LARGE.format(number=number[:_SHOWN])))
    return float(number)
