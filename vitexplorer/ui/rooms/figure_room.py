"""Abstract class of rooms that consist of a figure panel alone."""

from __future__ import annotations

from gradio.components import Component

from vitexplorer.ui.panel.room_figures import RoomFigures
from vitexplorer.ui.rooms.room import Room


class FigureRoom(Room):
    """A room whose views are all drawn as figures."""

    def build(self) -> list[Component]:
        """Build the panel, which fills itself when the room is entered."""
        self.panel = RoomFigures(self.context, self.key)
        self.panel.build()
        return []
