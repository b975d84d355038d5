"""Signs of the rooms: key, title, icon and invitation, all that the frame around the rooms needs of each."""

from __future__ import annotations

from vitexplorer.core.settings import Settings
from vitexplorer.core.text import Language, Text
from vitexplorer.ui.kit.language import word

LOOK = Text("Look", "观察")
WHY = Text("Ask why", "追问")
CHANGE = Text("Change", "改变")


class RoomSign:
    """Name, group, icon and invitation of a room, as attributes of its class."""

    key: str
    """Name of its folder, and of the room in an address"""
    title: Text
    invitation: Text
    """Reason to open it, before its title on the button that leads there"""
    icon: str
    """Path data of an SVG of 24 x 24 units"""
    group: Text = LOOK
    """Heading of the rail under which it stands; rooms of a group follow each other"""

    @classmethod
    def is_offered(cls, settings: Settings) -> bool:
        """Return True if this installation offers the room."""
        return True


Signs = tuple[type[RoomSign], ...]
"""Type of a list of rooms, in the order of a lecture"""


def room_after(rooms: Signs, key: str) -> type[RoomSign] | None:
    """Return the next room; None after the last, or if no room has that key."""
    keys = [room.key for room in rooms]
    return next(iter(rooms[keys.index(key) + 1 :]), None) if key in keys else None


def next_button(rooms: Signs, key: str, language: Language) -> dict[str, str]:
    """Return the button to the next room, as fields of `FrameData`."""
    room = room_after(rooms, key)
    if room is None:
        return {"next": "", "next_room": ""}
    return {"next": word("next", language, why=room.invitation, room=room.title), "next_room": room.key}
