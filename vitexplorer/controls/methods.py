"""Several methods that explain a class by a map, by their views' names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from vitexplorer.controls.choice import Several
from vitexplorer.core.capture_protocol import CaptureProtocol
from vitexplorer.core.registry import unknown_name
from vitexplorer.core.standings import RANDOM
from vitexplorer.core.text import SettingError, Text, UnsupportedError


class ExplainingView(Protocol):
    """A view that explains a class by a map, as far as this control knows it."""

    @property
    def title(self) -> Text:
        """Its name."""

    @property
    def runs(self) -> str:
        """Passes through the network: `nothing`, `once` or `many`."""

    @property
    def refuses(self) -> Callable[[Any], Text | None]:
        """Return the reason why the view has no meaning for a capture, or None."""


@dataclass(frozen=True)
class MethodsControl(Several):
    """Several methods; random order joins them in any case."""

    name: str = "methods"
    label: Text = Text("Methods", "方法")
    known: Callable[[], Mapping[str, ExplainingView]] = dict
    """the views to choose from; asked when needed, since they may not be registered yet"""

    @property
    def options(self) -> tuple[tuple[str, Text], ...]:
        """Every method with its title."""
        return tuple((key, view.title) for key, view in self.known().items())

    def offered(self, capture: CaptureProtocol) -> tuple[tuple[str, Text], ...]:
        """Those that have a meaning for this model."""
        return tuple((key, view.title) for key, view in self.known().items() if view.refuses(capture) is None)

    def default(self, capture: CaptureProtocol) -> tuple[str, ...]:
        """Those that have a meaning for this model and need few passes through it."""
        return tuple(key for key, view in self.known().items() if view.runs != "many" and view.refuses(capture) is None)

    def parse(self, value: Any, capture: CaptureProtocol, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """Names in a sequence or with commas between them, each once, random order last."""
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
