"""The rail of rooms at the left, on a phone at the bottom."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from pydantic import BaseModel

from vitexplorer.ui.gradio_adapter.types import Dependency
from vitexplorer.ui.kit.widget import Widget

SELECTED = "() => ({__type__: 'update', selected: document.querySelector('.vx-rail').dataset.room})"
"""what the tabs become in the browser itself, without a word to the server"""


class RailItem(BaseModel):
    """One room."""

    key: str
    title: str
    icon: str = ""
    """path of an SVG on a field of 24 by 24"""
    apart: bool = False
    """whether a line separates it from the one before"""


class RailData(BaseModel):
    """The rooms and the one that is looked at."""

    label: str = ""
    learn: str = ""
    """of the button that opens the guided path"""
    rooms: list[RailItem] = []
    room: str = ""
    first: str = ""
    """the room of an address that names none"""


class Rail(Widget):
    """Fires `enter` with `room` whenever another room is looked at, and an event of each room, see `look`."""

    data_model = RailData
    stem = "rail"
    sends = ("enter",)

    def __init__(self, value: Any = None, *, rooms: Iterable[str] = (), **options: Any):
        """Args: value: `RailData` or None; rooms: keys of those that have an event; options: as for `Widget`."""
        self.sends = (*type(self).sends, *(f"look_{room}" for room in rooms))
        super().__init__(value, **options)

    def look(self, room: str) -> Callable[..., Dependency]:
        """Binder of a function to the moments in which this room is looked at and the capture is new.

        The browser knows which room that is: the others ask nothing.
        """
        return partial(getattr(self, f"look_{room}"), trigger_mode="always_last")
