"""The Positions room: a panel of figures."""

from __future__ import annotations

from vitexplorer.core.text import Text
from vitexplorer.ui.rooms.figure_room import FigureRoom


class PositionsRoom(FigureRoom):
    """Position embeddings and biases."""

    key = "positions"
    title = Text("Positions", "位置")
    invitation = Text("What it knows of places", "模型知道哪些位置信息")
    icon = "M12 2v5 M12 17v5 M2 12h5 M17 12h5 M17 12a5 5 0 1 1-10 0a5 5 0 0 1 10 0z"
