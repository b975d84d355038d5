"""Signs of the rooms: what the frame around them knows of each."""

from __future__ import annotations

from vitexplorer.core.settings import Settings
from vitexplorer.core.text import Language, Text
from vitexplorer.ui.kit.language import word


class RoomSign:
    """Name, icon and invitation of a room, as attributes of its class. They stand in the order of a lecture."""

    key: str
    """its folder's name, and its name in an address"""
    title: Text
    invitation: Text
    """why to look at it, before its title on the button that leads there"""
    icon: str
    """path of an SVG on a field of 24 by 24"""
    apart: bool = False
    """whether a line in the rail separates it from the room before"""

    @classmethod
    def is_offered(cls, settings: Settings) -> bool:
        """Return whether this installation has it."""
        return True


Signs = tuple[type[RoomSign], ...]


def room_after(rooms: Signs, key: str) -> type[RoomSign] | None:
    """The next room; None after the last, or where there is no room of that key."""
    keys = [room.key for room in rooms]
    return next(iter(rooms[keys.index(key) + 1 :]), None) if key in keys else None


def next_button(rooms: Signs, key: str, language: Language) -> dict[str, str]:
    """The button to the next room, as fields of `FrameData`."""
    room = room_after(rooms, key)
    if room is None:
        return {"next": "", "next_room": ""}
    return {"next": word("next", language, why=room.invitation, room=room.title), "next_room": room.key}
