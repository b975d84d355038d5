"""Rail of rooms at the left of the page, on a phone at the bottom."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from pydantic import BaseModel

from vitexplorer.ui.gradio_adapter.types import Dependency
from vitexplorer.ui.kit.widget import Widget

SELECTED = "() => ({__type__: 'update', selected: document.querySelector('.vx-rail').dataset.room})"
"""Script that selects the tab of a room in the browser, without a request to the server"""


class RailItem(BaseModel):
    """One room."""

    key: str
    title: str
    icon: str = ""
    """Path data of an SVG of 24 x 24 units"""
    group: str = ""
    """Heading of the rooms that it belongs to"""


class RailData(BaseModel):
    """The rooms and the open one."""

    label: str = ""
    learn: str = ""
    """Label of the button that opens the guided path"""
    rooms: list[RailItem] = []
    room: str = ""
    first: str = ""
    """Room that opens if the address names none"""


class Rail(Widget):
    """Component that fires `enter` with `room` whenever another room opens, and an event of each room, see `look`."""

    data_model = RailData
    sends = ("enter",)

    def __init__(self, value: Any = None, *, rooms: Iterable[str] = (), **options: Any):
        """Make a rail; `rooms` are the keys of the rooms that have an event."""
        self.sends = (*type(self).sends, *(f"look_{room}" for room in rooms))
        super().__init__(value, **options)

    def look(self, room: str) -> Callable[..., Dependency]:
        """Return the function that binds a handler to this room being open with a new capture.

        The browser knows which room is open, so the other rooms send no request.
        """
        return partial(getattr(self, f"look_{room}"), trigger_mode="always_last")
