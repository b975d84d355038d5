"""Frame around the stage of every room: the question, its reading, the trap, the next room, the lines of Python.

`kit/frame.js` writes it into a component whose root has the class `vx-frame`; its data are a `FrameData`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

from vitexplorer.core.text import Language
from vitexplorer.ui.kit.language import word

if TYPE_CHECKING:
    from vitexplorer.comparisons.record import Comparison
    from vitexplorer.views.record import View

_WORDS = ("misleads", "more", "save", "save_as", "table", "row_by_col")


class FrameData(BaseModel):
    """The words around one picture."""

    question: str = ""
    reading: str = ""
    """what the numbers on the screen say, in a sentence or two"""
    misleads: str = ""
    paper: str = ""
    paper_url: str = ""
    python: str = ""
    """lines that give the same picture in a script"""
    next: str = ""
    next_room: str = ""
    """key of the room that `next` leads to"""
    words: dict[str, str] = {}
    """of the component, and `frame_words`"""


def frame_words(language: Language) -> dict[str, str]:
    """Words of the frame itself."""
    return {key: word(key, language) for key in _WORDS}


def about(view: str, language: Language) -> dict[str, str]:
    """A view's question, its trap and its source, as fields of `FrameData`."""
    from vitexplorer.views import VIEWS

    return about_record(VIEWS[view], language)


def about_record(record: View | Comparison, language: Language) -> dict[str, str]:
    """Question, trap and source of a view or of a comparison."""
    return {
        "question": record.question.in_(language),
        "misleads": record.misleads.in_(language),
        "paper": record.paper.in_(language) if record.paper else "",
        "paper_url": record.paper.url if record.paper else "",
    }
