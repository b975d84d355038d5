"""Control for several methods that explain a class by a map, named by their views."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from vitexplorer.controls.control import Control
from vitexplorer.controls.spec import Fields
from vitexplorer.core.capture_protocol import CaptureProtocol
from vitexplorer.core.registry import unknown_name
from vitexplorer.core.standings import RANDOM
from vitexplorer.core.text import ITEMS, SettingError, Text, UnsupportedError
from vitexplorer.core.types import Result


@dataclass(frozen=True)
class MethodsControl(Control):
    """Several methods; random order is always added."""

    name: str = "methods"
    label: Text = Text("Methods", "方法")
    known: Callable[[], Mapping[str, Any]] = dict
    """Function that returns the available `View`s; called late, since they may not be registered yet"""

    kind: ClassVar[str] = "several"

    @property
    def options(self) -> tuple[tuple[str, Text], ...]:
        """Every method by key, with its title."""
        return tuple((key, view.title) for key, view in self.known().items())

    def offered(self, capture: CaptureProtocol) -> tuple[tuple[str, Text], ...]:
        """Return the methods that apply to this model."""
        return tuple((key, view.title) for key, view in self.known().items() if view.refuses(capture) is None)

    def default(self, capture: CaptureProtocol) -> tuple[str, ...]:
        """Return the methods that apply to this model and need few passes."""
        return tuple(key for key, view in self.known().items() if view.runs != "many" and view.refuses(capture) is None)

    def parse(self, value: Any, capture: CaptureProtocol, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the names, given as a sequence or separated by commas, each once, with random order last.

        Raises SettingError, UnknownNameError, or UnsupportedError for a view that does not apply to the model.
        """
        if isinstance(value, str):
            value = [name.strip() for name in value.split(",") if name.strip()]
        if not isinstance(value, Sequence):
            raise SettingError(
                Text("methods must be names of views, not {value}.", "methods 必须是视图名称，而不是 {value}。").format(
                    value=repr(value)
                )
            )
        known = self.known()
        for name in value:
            if name not in known:
                raise unknown_name("view", name, known)
            if (reason := known[name].refuses(capture)) is not None:
                raise UnsupportedError(reason)
        return (*(name for name in dict.fromkeys(value) if name != RANDOM), RANDOM)

    def say(self, value: Any, capture: CaptureProtocol) -> Text:
        """List the names of the selected options."""
        offered = dict(self.offered(capture))
        return ITEMS.join(offered[key] for key in value)

    def details(self, capture: CaptureProtocol | None, settings: Mapping[str, Any], result: Result | None) -> Fields:
        """Return all offered options, selected or not."""
        return {} if capture is None else {"options": self.offered(capture)}
