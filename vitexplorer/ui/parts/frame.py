"""What stands around the stage of every room: the question, its reading, the trap, the next room, the lines of Python.

`kit/frame.js` writes it into a component whose root has the class `vx-frame`.
"""

from __future__ import annotations

from gradio.data_classes import GradioModel


class FrameData(GradioModel):
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
