"""Frame around the stage of every room: question, reading, warning when it misleads, next room, lines of Python.

`kit/frame.js` draws a `FrameData` into a component whose root has the class `vx-frame`.
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
    """Reading of the numbers on the screen, a sentence or two"""
    misleads: str = ""
    paper: str = ""
    paper_url: str = ""
    python: str = ""
    """Lines that make the same picture in a script"""
    next: str = ""
    next_room: str = ""
    """Key of the room that `next` leads to"""
    words: dict[str, str] = {}
    """Words of the component, and `frame_words`"""


def frame_words(language: Language) -> dict[str, str]:
    """Return the words of the frame itself."""
    return {key: word(key, language) for key in _WORDS}


def about(record: View | Comparison, language: Language) -> dict[str, str]:
    """Return a record's question, when it misleads, and its paper, as fields of `FrameData`."""
    return {
        "question": record.question.in_(language),
        "misleads": record.misleads.in_(language),
        "paper": record.paper.in_(language) if record.paper else "",
        "paper_url": record.paper.url if record.paper else "",
    }
