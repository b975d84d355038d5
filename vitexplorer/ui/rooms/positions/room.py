"""The room Positions: its views, drawn as figures in one panel."""

from __future__ import annotations

from vitexplorer.ui.rooms.figure_room import FigureRoom


class PositionsRoom(FigureRoom):
    """What does the model know of places?"""

    key = "positions"
