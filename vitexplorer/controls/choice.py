"""Control for one of a few options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from vitexplorer.controls.control import Control
from vitexplorer.controls.spec import Fields
from vitexplorer.core.capture_protocol import CaptureProtocol
from vitexplorer.core.registry import unknown_name
from vitexplorer.core.text import SettingError, Text, same
from vitexplorer.core.types import Result


@dataclass(frozen=True)
class Choice(Control):
    """One of a few options; defaults to the first, which is always possible."""

    options: tuple[tuple[str, Text], ...] = ()

    kind: ClassVar[str] = "choice"
    of_capture: ClassVar[bool] = False

    def default(self, capture: CaptureProtocol | None) -> str:
        """Return the first option."""
        return self.options[0][0]

    def offered(self, capture: CaptureProtocol | None) -> tuple[tuple[str, Text], ...]:
        """Return all options."""
        return self.options

    def refusal(self, option: str, capture: CaptureProtocol, settings: Mapping[str, Any]) -> Text | None:
        """Return the reason why an option is not possible after the settings before it, or None if it is."""
        return None

    def parse(self, value: Any, capture: CaptureProtocol | None, settings: Mapping[str, Any]) -> str:
        """Return one of the options.

        Raises UnknownNameError for any other value, SettingError for an option that is not possible.
        """
        known = [key for key, _ in self.options]
        if value not in known:
            raise unknown_name(self.name, value, known)
        reason = None if capture is None else self.refusal(value, capture, settings)
        if reason is not None:
            raise SettingError(reason)
        return value

    def details(self, capture: CaptureProtocol | None, settings: Mapping[str, Any], result: Result | None) -> Fields:
        """Return the keys of the options, and the options that are possible."""
        fields = {"takes": same(" | ".join(key for key, _ in self.options))}
        if capture is None:
            return fields
        possible = (option for option in self.options if self.refusal(option[0], capture, settings) is None)
        return fields | {"options": tuple(possible)}
