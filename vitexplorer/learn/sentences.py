"""Sentences of a step, filled with the numbers on the screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from vitexplorer.core.text import Language, Text
from vitexplorer.core.types import Result
from vitexplorer.learn.step import Numbers


@dataclass(frozen=True)
class OnScreen:
    """Capture with the functions that steps need, see `Seen`."""

    capture: Any
    """`Capture`; typed as Any, since importing its module imports torch"""
    view: Callable[[str, Mapping[str, object]], Result]
    change: Callable[[str], Any]
    other: Callable[[str], OnScreen]

    def compute(self, view: str, **settings: object) -> Result:
        """Compute a view of the capture, see `vx.compute`."""
        return self.view(view, settings)

    def changed(self, changes: str) -> Any:
        """Apply changes to the capture, see `vx.intervene`."""
        return self.change(changes)

    def beside(self, model: str) -> OnScreen:
        """Return the same image in another model."""
        return self.other(model)


class _Written(float):
    """Number formatted in the typography of the page: 96.7 % and −0.01."""

    def __format__(self, how: str) -> str:
        return super().__format__(how).replace("%", " %").replace("-", "−")


def sayer(numbers: Numbers, language: Language) -> Callable[[Text], str]:
    """Return a function that fills a step's sentences with these numbers."""
    written = {name: _Written(value) if isinstance(value, float) else value for name, value in numbers.items()}
    return lambda text: text.format(**written).in_(language)
