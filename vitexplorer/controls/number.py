"""Control for a number between two bounds, and whole numbers as given by people, URLs and command lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from vitexplorer.controls.control import Control
from vitexplorer.controls.spec import Fields
from vitexplorer.core.capture_protocol import CaptureProtocol
from vitexplorer.core.text import SettingError, Text
from vitexplorer.core.types import Result


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


@dataclass(frozen=True)
class Number(Control):
    """Number between two bounds; both are allowed unless `open_above`."""

    low: float = 0.0
    high: float = 1.0
    start: float = 0.0
    step: float = 0.01
    whole: bool = False
    open_above: bool = False

    kind: ClassVar[str] = "number"
    of_capture: ClassVar[bool] = False

    def default(self, capture: CaptureProtocol | None) -> float | int:
        """Return the start value."""
        return int(self.start) if self.whole else self.start

    def parse(self, value: Any, capture: CaptureProtocol | None, settings: Mapping[str, Any]) -> float | int:
        """Return a number within the bounds. Raises SettingError for any other value."""
        if self.whole:
            number: float | int = whole_number(self.name, value)
        else:
            try:
                number = _as_float(value)
            except (TypeError, ValueError, OverflowError):
                raise SettingError(
                    Text("{name} must be a number, not {value}.", "{name} 必须是数字，而不是 {value}。").format(
                        name=self.name, value=repr(value)
                    )
                ) from None
        if not (self.low <= number < self.high if self.open_above else self.low <= number <= self.high):
            bound = Text("to below", "且小于") if self.open_above else Text("to", "且不大于")
            raise SettingError(
                Text(
                    "{name} must be from {low:g} {bound} {high:g}, not {number:g}.",
                    "{name} 必须不小于 {low:g} {bound} {high:g}，而不是 {number:g}。",
                ).format(name=self.name, low=self.low, bound=bound, high=self.high, number=number)
            )
        return number

    def details(self, capture: CaptureProtocol | None, settings: Mapping[str, Any], result: Result | None) -> Fields:
        """Return the bounds; an open upper bound is lowered by one step."""
        return {
            "takes": Text("{low:g} to {high:g}", "{low:g} 至 {high:g}").format(low=self.low, high=self.high),
            "low": self.low,
            "high": self.high - self.step if self.open_above else self.high,
            "step": 1 if self.whole else self.step,
        }


def _as_float(value: Any) -> float:
    """Convert a number or its text. Raises TypeError for bytes, which `float` would take for a text."""
    if isinstance(value, bytes | bytearray):
        raise TypeError("bytes are no number")
    return float(value)


CURVE_CONTROLS = (
    Number("steps", Text("Steps", "步数"), low=2, high=100, start=10, step=1, whole=True),
    Number("seed", Text("Seed", "随机种子"), low=0, high=2**31 - 1, step=1, whole=True),
)
"""Controls of deletion and insertion curves; the seed is that of the random order for comparison"""
