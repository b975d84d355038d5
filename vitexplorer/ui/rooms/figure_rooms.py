"""Rooms that consist of a figure panel alone: Tokens, Outputs, Positions."""

from __future__ import annotations

from gradio.components import Component

from vitexplorer.core.text import Text
from vitexplorer.ui.panel.room_figures import RoomFigures
from vitexplorer.ui.rooms.room import Room


class FigureRoom(Room):
    """A room whose views are all drawn as figures."""

    def build(self) -> list[Component]:
        """Build the panel, which fills itself when the room is entered."""
        self.panel = RoomFigures(self.context, self.key)
        self.panel.build()
        return []


class TokensRoom(FigureRoom):
    """Patches with similar tokens, and tokens that are outliers."""

    key = "tokens"
    title = Text("Tokens", "标记")
    invitation = Text("What the tokens hold", "标记里有什么")
    icon = "M4 4h6v6H4z M14 4h6v6h-6z M4 14h6v6H4z M14 14h6v6h-6z"


class OutputsRoom(FigureRoom):
    """The answer block by block, and through which token it is read."""

    key = "outputs"
    title = Text("Outputs", "输出")
    invitation = Text("What comes out", "得到什么结果")
    icon = "M5 20v-9 M12 20V4 M19 20v-6"


class PositionsRoom(FigureRoom):
    """Position embeddings and biases."""

    key = "positions"
    title = Text("Positions", "位置")
    invitation = Text("What it knows of places", "模型知道哪些位置信息")
    icon = "M12 2v5 M12 17v5 M2 12h5 M17 12h5 M17 12a5 5 0 1 1-10 0a5 5 0 0 1 10 0z"
