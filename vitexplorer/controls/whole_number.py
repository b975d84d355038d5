"""Whole numbers as people, addresses and command lines give them."""

from __future__ import annotations

from typing import Any

from vitexplorer.core.text import SettingError, Text


def whole_number(name: str, value: Any) -> int:
    """The whole number that `value` is. Raises SettingError, in which `name` stands."""
    try:
        number = int(value)
        float(number)  # what no float can hold is no number of anything here
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or not (isinstance(value, str) or value == number):
        raise SettingError(
            Text("{name} must be a whole number, not {value}.", "{name} 必须是整数，而不是 {value}。").format(
                name=name, value=repr(value)
            )
        )
    return number
