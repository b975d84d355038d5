"""The room Tokens: its views, drawn as figures in one panel."""

from __future__ import annotations

from vitexplorer.ui.rooms.figure_room import FigureRoom


class TokensRoom(FigureRoom):
    """What do the tokens hold?"""

    key = "tokens"
