"""Step of the guided path: a state of the page, a highlighted part, a question with its answer, and an action.

A step draws nothing itself. Parameters of the page's address make a room draw its picture; they also show when the
action is done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from vitexplorer.core.capture_protocol import without_classes
from vitexplorer.core.text import Language, Text, UnsupportedError
from vitexplorer.core.types import Result

Numbers = dict[str, Any]
"""Values of the {names} in sentences: integers, floats that the sentence formats, texts"""


@dataclass(frozen=True)
class Seen:
    """Screen content that a step's numbers are computed from: a capture, and functions of it."""

    capture: Any
    """`Capture`; typed as Any, since importing its module imports torch"""
    compute: Callable[..., Result]
    """Function from a view and its settings to the result, see `vx.compute`"""
    changed: Callable[[str], Any]
    """Function from changes to the capture of the changed run, see `vx.intervene`"""
    beside: Callable[[str], Seen]
    """Function from a model to the same image in it"""


@dataclass(frozen=True, eq=False)
class Step:
    """Step of the path. All sentences may hold {names} of `numbers`."""

    key: str
    title: Text
    state: Mapping[str, str]
    """Parameters of the page's address; the image remains the learner's"""
    light: Literal["size", "board", "stage", "strip", "panel", "changes", "methods", "words"]
    """Part of the page that is highlighted"""
    says: Text
    formula: Text
    numbers: Callable[[Seen], Numbers]
    """Function from the screen to the numbers; raises ExplainedError if the model on the screen has none"""
    asks: Text
    """Question that the learner answers before the numbers appear"""
    choices: tuple[Text, ...]
    right: Callable[[Numbers], int]
    """Function from the numbers to the index of the right choice"""
    reveal: Text
    """Explanation of the answer, with numbers"""
    action: Text
    """Task for the learner in the room"""
    becomes: Mapping[str, str]
    """Patterns that parameters of the address match fully once the action is done, and not in the step's own state;
    may hold {names} of numbers"""
    leads: Mapping[str, str] | None = None
    """Parameters of another room for the action; None if it takes place in this one"""
    printed: tuple[str, Mapping[str, str]] | None = None
    """View and settings that represent the room on paper; None if the state names the view"""


def check_classes(seen: Seen) -> None:
    """Raise UnsupportedError for a model without a classifier, or with one output."""
    reason = without_classes(seen.capture)
    if reason is not None:
        raise UnsupportedError(reason)


class _Written(float):
    """Number formatted in the typography of the page: 96.7 % and −0.01."""

    def __format__(self, how: str) -> str:
        return super().__format__(how).replace("%", " %").replace("-", "−")


def sayer(numbers: Numbers, language: Language) -> Callable[[Text], str]:
    """Return a function that fills a step's sentences with these numbers."""
    written = {name: _Written(value) if isinstance(value, float) else value for name, value in numbers.items()}
    return lambda text: text.format(**written).in_(language)
