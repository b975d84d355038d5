"""The rail of rooms at the left, on a phone at the bottom."""

from __future__ import annotations

from gradio.data_classes import GradioModel

from vitexplorer.ui.parts.widget import Widget

SELECTED = "() => ({__type__: 'update', selected: document.querySelector('.vx-rail').dataset.room})"
"""what the tabs become in the browser itself, without a word to the server"""


class RailItem(GradioModel):
    """One room."""

    key: str
    title: str
    apart: bool = False
    """whether a line separates it from the one before"""


class RailData(GradioModel):
    """The rooms and the one that is looked at."""

    label: str = ""
    rooms: list[RailItem] = []
    room: str = ""
    first: str = ""
    """the room of an address that names none"""


class Rail(Widget):
    """Fires `enter` with `room` whenever another room is looked at."""

    data_model = RailData
    stem = "rail"
    sends = ("enter",)
