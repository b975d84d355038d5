"""What a step of the guided path is: a state of the page, a part that is lit up, a question, its answer, what to do.

A step shows nothing itself: its picture is a room's own, brought about by the parameters of the page's address, which
also say when a person has done what they were asked to.
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
"""a part of the page"""
Numbers = dict[str, Any]
"""what the sentences' {names} stand for: integers, floats that the sentence formats, texts"""


@runtime_checkable
class Seen(Protocol):
    """What is on the screen, as far as a step's numbers need it."""

    capture: Capture

    def compute(self, view: str, **settings: object) -> Result:
        """As `vx.compute` on the capture."""

    def changed(self, changes: str) -> Capture:
        """As `vx.intervene` on it."""

    def beside(self, model: str) -> Seen:
        """The same image in another model."""


@dataclass(frozen=True)
class Question:
    """What one guesses before the numbers are shown."""

    asks: Text
    choices: tuple[Text, ...]
    right: Callable[[Numbers], int]
    """which of the choices the numbers say"""
    reveal: Text
    """why, with numbers"""


@dataclass(frozen=True)
class Action:
    """What a person does in the room itself, and how it is noticed."""

    asks: Text
    becomes: Mapping[str, str]
    """patterns that parameters of the address match whole once it is done, and did not in the step's own state; may
    hold {names} of numbers"""
    leads: Mapping[str, str] | None = None
    """parameters of another room in which it is done; None where it is done in this one"""


@dataclass(frozen=True, eq=False)
class Step:
    """One step. All sentences may hold {names} of `numbers`."""

    key: str
    title: Text
    state: Mapping[str, str]
    """parameters of the page's address; the image stays the learner's"""
    light: Light
    says: Text
    formula: Text
    numbers: Callable[[Seen], Numbers]
    """raises ExplainedError where the model that is on the screen has none"""
    question: Question
    action: Action
    printed: tuple[str, Mapping[str, str]] | None = None
    """the view and its settings that stand for the room on paper; None where the state names it"""
