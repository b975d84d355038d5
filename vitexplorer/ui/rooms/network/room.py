"""The Network room: the whole forward pass in one figure."""

from __future__ import annotations

from vitexplorer.core.text import Text
from vitexplorer.ui.rooms.figure_room import FigureRoom


class NetworkRoom(FigureRoom):
    """The whole forward pass in one figure."""

    key = "network"
    title = Text("Network", "全貌")
    invitation = Text("The whole pass at once", "一图看完整个前向过程")
    icon = "M3 7h4v10H3z M10 4h4v16h-4z M17 8h4v8h-4z M7 9l3-2 M7 15l3 2 M14 8l3 2 M14 16l3-2"
