"""The Tokens room: a panel of figures."""

from __future__ import annotations

from vitexplorer.core.text import Text
from vitexplorer.ui.rooms.figure_room import FigureRoom


class TokensRoom(FigureRoom):
    """Patches with similar tokens, and tokens that are outliers."""

    key = "tokens"
    title = Text("Tokens", "标记")
    invitation = Text("What the tokens hold", "标记里有什么")
    icon = "M4 4h6v6H4z M14 4h6v6h-6z M4 14h6v6H4z M14 14h6v6h-6z"
