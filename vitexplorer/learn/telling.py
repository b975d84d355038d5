"""A step in words: its sentences with the numbers of what is on the screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from vitexplorer.core.text import Language, Text
from vitexplorer.core.types import Result
from vitexplorer.learn.step import Numbers


@dataclass(frozen=True)
class OnScreen:
    """A capture as the steps see it."""

    capture: Any
    """a `Capture`, whose module waits for torch"""
    view: Callable[[str, Mapping[str, object]], Result]
    change: Callable[[str], Any]
    other: Callable[[str], OnScreen]

    def compute(self, view: str, **settings: object) -> Result:
        """As `vx.compute` on the capture."""
        return self.view(view, settings)

    def changed(self, changes: str) -> Any:
        """As `vx.intervene` on it."""
        return self.change(changes)

    def beside(self, model: str) -> OnScreen:
        """The same image in another model."""
        return self.other(model)


class _Written(float):
    """A number whose formats have the signs of the page: 96.7 % and −0.01."""

    def __format__(self, how: str) -> str:
        return super().__format__(how).replace("%", " %").replace("-", "−")


def sayer(numbers: Numbers, language: Language) -> Callable[[Text], str]:
    """What fills a step's sentences with these numbers."""
    written = {name: _Written(value) if isinstance(value, float) else value for name, value in numbers.items()}
    return lambda text: text.format(**written).in_(language)
