"""Whole numbers as given by people, URLs and command lines."""

from __future__ import annotations

from typing import Any

from vitexplorer.core.text import SettingError, Text


def whole_number(name: str, value: Any) -> int:
    """Convert `value` to a whole number. Raises SettingError, which mentions `name`."""
    try:
        number = int(value)
        float(number)  # raises OverflowError: larger numbers count nothing here
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or not (isinstance(value, str) or value == number):
        raise SettingError(
            Text("{name} must be a whole number, not {value}.", "{name} 必须是整数，而不是 {value}。").format(
                name=name, value=repr(value)
            )
        )
    return number
