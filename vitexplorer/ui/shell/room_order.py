"""The rooms by their keys, in the order of a lecture."""

from __future__ import annotations

from typing import Literal, get_args

RoomKey = Literal[
    "patches", "attention", "flow", "tokens", "outputs", "positions", "size", "what_if", "compare", "finetune", "folder"
]


def room_after(room: str) -> str:
    """Key of the next room; empty after the last."""
    rooms = get_args(RoomKey)
    return next(iter(rooms[rooms.index(room) + 1 :]), "") if room in rooms else ""
