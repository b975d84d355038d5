"""A control: one setting of a view, an intervention or a method, and how all settings of one are checked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vitexplorer.explored import Explored
from vitexplorer.registry import unknown_name
from vitexplorer.words import Text, same


@dataclass(frozen=True)
class Control(ABC):
    """One setting of a view: what it is called, what it may be, what it is when nobody says."""

    name: str
    label: Text

    @abstractmethod
    def default(self, capture: Explored) -> Any:
        """The value when none is given."""

    def default_after(self, capture: Explored, settings: Mapping[str, Any]) -> Any:
        """The value when none is given, where the controls before it matter; `settings` holds them."""
        return self.default(capture)

    @abstractmethod
    def parse(self, value: Any, capture: Explored, settings: Mapping[str, Any]) -> Any:
        """The checked value of what a person, a URL or a command line gave; `settings` holds the controls before it.

        Raises SettingError with a sentence.
        """

    def offered(self, capture: Explored) -> tuple[tuple[str, Text], ...]:
        """What may be chosen, as a person would write it and in words; empty where that is no short list."""
        return ()

    def say(self, value: Any, capture: Explored) -> Text:
        """A checked value in words."""
        written = written_value(value)
        return dict(self.offered(capture)).get(written, same(written))


def written_value(value: Any) -> str:
    """A setting as the command line and the URL write it."""
    if isinstance(value, tuple | list):
        return ",".join(str(part) for part in value)
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def checked(controls: tuple[Control, ...], capture: Explored, given: Mapping[str, Any]) -> dict[str, Any]:
    """Every control's value: what was given, checked, and defaults for the rest.

    Raises UnknownNameError for a control that is not there, SettingError for a value it cannot take.
    """
    names = [control.name for control in controls]
    for name in given:
        if name not in names:
            raise unknown_name("setting", name, names)
    settings: dict[str, Any] = {}
    for control in controls:
        chosen = given.get(control.name)
        if chosen is None:
            chosen = control.default_after(capture, settings)
        settings[control.name] = control.parse(chosen, capture, settings)
    return settings
