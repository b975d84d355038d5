"""Control for a switch: on or off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from vitexplorer.controls.control import Control
from vitexplorer.core.capture_protocol import CaptureProtocol
from vitexplorer.core.text import SettingError, Text, same


@dataclass(frozen=True)
class Switch(Control):
    """Switch with the values True and False."""

    start: bool = False

    kind: ClassVar[str] = "choice"
    of_capture: ClassVar[bool] = False
    takes: ClassVar[Text | None] = same("on | off")

    def default(self, capture: CaptureProtocol | None) -> bool:
        """Return the start value."""
        return self.start

    def offered(self, capture: CaptureProtocol | None) -> tuple[tuple[str, Text], ...]:
        """Return both values."""
        return (("True", Text("on", "开")), ("False", Text("off", "关")))

    def parse(self, value: Any, capture: CaptureProtocol | None, settings: Mapping[str, Any]) -> bool:
        """Return True or False, also given as "on" and "off", "true" and "false", 1 and 0."""
        known = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}
        word = str(value).strip().lower()
        if word not in known:
            raise SettingError(
                Text("{name} is on or off, not {value}.", "{name} 只能为开（on）或关（off），而不是 {value}。").format(
                    name=self.name, value=repr(value)
                )
            )
        return known[word]
