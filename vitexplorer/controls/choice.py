"""One of a few words, or several of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vitexplorer.controls.control import Control
from vitexplorer.explored import Explored
from vitexplorer.registry import unknown_name
from vitexplorer.words import Text


@dataclass(frozen=True)
class Choice(Control):
    """One of a few words; the first is the default."""

    options: tuple[tuple[str, Text], ...] = ()

    def default(self, capture: Explored) -> str:
        """The first option."""
        return self.options[0][0]

    def offered(self, capture: Explored) -> tuple[tuple[str, Text], ...]:
        """All options."""
        return self.options

    def parse(self, value: Any, capture: Explored, settings: Mapping[str, Any]) -> str:
        """One of the options."""
        known = [key for key, _ in self.options]
        if value not in known:
            raise unknown_name(self.name, value, known)
        return value


@dataclass(frozen=True)
class Several(Control):
    """Any number of what is offered."""

    def say(self, value: Any, capture: Explored) -> Text:
        """Their names one after the other."""
        names = [dict(self.offered(capture))[one] for one in value]
        return Text(", ".join(name.en for name in names), "、".join(name.zh for name in names))
