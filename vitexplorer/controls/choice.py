"""One of a few words, or several of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from vitexplorer.controls.control import Control
from vitexplorer.controls.spec import Spec
from vitexplorer.core.capture_protocol import CaptureProtocol
from vitexplorer.core.registry import unknown_name
from vitexplorer.core.text import Text, same
from vitexplorer.core.types import Result


@dataclass(frozen=True)
class Choice(Control):
    """One of a few words; the first is the default."""

    options: tuple[tuple[str, Text], ...] = ()

    kind: ClassVar[str] = "choice"
    of_capture: ClassVar[bool] = False

    def default(self, capture: CaptureProtocol | None) -> str:
        """The first option."""
        return self.options[0][0]

    def offered(self, capture: CaptureProtocol | None) -> tuple[tuple[str, Text], ...]:
        """All options."""
        return self.options

    def parse(self, value: Any, capture: CaptureProtocol | None, settings: Mapping[str, Any]) -> str:
        """One of the options."""
        known = [key for key, _ in self.options]
        if value not in known:
            raise unknown_name(self.name, value, known)
        return value

    def spec(
        self,
        capture: CaptureProtocol | None = None,
        settings: Mapping[str, Any] | None = None,
        result: Result | None = None,
    ) -> Spec:
        """One of the options."""
        return replace(super().spec(capture, settings, result), takes=same(" | ".join(key for key, _ in self.options)))


@dataclass(frozen=True)
class Several(Control):
    """Any number of what is offered."""

    kind: ClassVar[str] = "several"

    def say(self, value: Any, capture: CaptureProtocol) -> Text:
        """Their names one after the other."""
        names = [dict(self.offered(capture))[one] for one in value]
        return Text(", ".join(name.en for name in names), "、".join(name.zh for name in names))

    def spec(
        self,
        capture: CaptureProtocol | None = None,
        settings: Mapping[str, Any] | None = None,
        result: Result | None = None,
    ) -> Spec:
        """All that is offered, whatever of it is chosen."""
        spec = super().spec(capture, settings, result)
        return spec if capture is None else replace(spec, options=self.offered(capture))
