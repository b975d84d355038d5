"""The room Outputs: its views, drawn as figures in one panel."""

from __future__ import annotations

from vitexplorer.ui.rooms.figure_room import FigureRoom


class OutputsRoom(FigureRoom):
    """What comes out, and through which token?"""

    key = "outputs"
