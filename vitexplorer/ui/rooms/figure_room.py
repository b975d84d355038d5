"""Rooms that consist of their panel alone."""

from __future__ import annotations

from gradio.components import Component

from vitexplorer.ui.panel.room_figures import RoomFigures
from vitexplorer.ui.rooms.room import Room


class FigureRoom(Room):
    """A room whose views are all drawn as figures."""

    def build(self) -> list[Component]:
        """The panel, which fills itself when the room is entered."""
        self.panel = RoomFigures(self.desk, self.key)
        self.panel.build()
        return []
