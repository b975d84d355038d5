"""Step of the guided path: a state of the page, a highlighted part, a question with its answer, and an action.

A step draws nothing itself. Parameters of the page's address make a room draw its picture; they also show when the
action is done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from vitexplorer.core.text import Text
from vitexplorer.core.types import Result

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture

Light = Literal["size", "board", "stage", "strip", "panel", "changes", "methods"]
"""Part of the page that is highlighted"""
Numbers = dict[str, Any]
"""Values of the {names} in sentences: integers, floats that the sentence formats, texts"""


@runtime_checkable
class Seen(Protocol):
    """Screen content that a step's numbers are computed from."""

    capture: Capture

    def compute(self, view: str, **settings: object) -> Result:
        """Compute a view of the capture, see `vx.compute`."""

    def changed(self, changes: str) -> Capture:
        """Apply changes to the capture, see `vx.intervene`."""

    def beside(self, model: str) -> Seen:
        """Return the same image in another model."""


@dataclass(frozen=True)
class Question:
    """Question that the learner answers before the numbers appear."""

    asks: Text
    choices: tuple[Text, ...]
    right: Callable[[Numbers], int]
    """Function from the numbers to the index of the right choice"""
    reveal: Text
    """Explanation of the answer, with numbers"""


@dataclass(frozen=True)
class Action:
    """Action of the learner in the room, and the parameters by which it is recognised."""

    asks: Text
    becomes: Mapping[str, str]
    """Patterns that parameters of the address match fully once the action is done, and not in the step's own state;
    may hold {names} of numbers"""
    leads: Mapping[str, str] | None = None
    """Parameters of another room for the action; None if it takes place in this one"""


@dataclass(frozen=True, eq=False)
class Step:
    """Step of the path. All sentences may hold {names} of `numbers`."""

    key: str
    title: Text
    state: Mapping[str, str]
    """Parameters of the page's address; the image remains the learner's"""
    light: Light
    says: Text
    formula: Text
    numbers: Callable[[Seen], Numbers]
    """Function from the screen to the numbers; raises ExplainedError if the model on the screen has none"""
    question: Question
    action: Action
    printed: tuple[str, Mapping[str, str]] | None = None
    """View and settings that represent the room on paper; None if the state names the view"""
