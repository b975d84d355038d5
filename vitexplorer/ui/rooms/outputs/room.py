"""The Outputs room: a panel of figures."""

from __future__ import annotations

from vitexplorer.core.text import Text
from vitexplorer.ui.rooms.figure_room import FigureRoom


class OutputsRoom(FigureRoom):
    """The answer block by block, and through which token it is read."""

    key = "outputs"
    title = Text("Outputs", "输出")
    invitation = Text("What comes out", "得到什么结果")
    icon = "M5 20v-9 M12 20V4 M19 20v-6"
