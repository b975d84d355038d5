"""Events of a visit: a visitor arrives, or picks another image, model, weights, size or fit.

Every event reads the requested address and returns the next one; nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import parse_qsl

import gradio as gr

from vitexplorer.core.settings import settings
from vitexplorer.service.user_storage import TunedChoice
from vitexplorer.ui.gradio_adapter.events import fields_of
from vitexplorer.ui.gradio_adapter.types import Block
from vitexplorer.ui.kit.language import language_of_request, word
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.chips.image_chip import ImageChip, image_chip
from vitexplorer.ui.shell.chips.model_chip import ModelChip, model_chip
from vitexplorer.ui.shell.chips.size_chip import SizeChip
from vitexplorer.ui.shell.guide.guide import Guide, guide_data
from vitexplorer.ui.shell.header import Header, header_data
from vitexplorer.ui.shell.rail import Rail, RailData, RailItem
from vitexplorer.ui.shell.room_context import Updates
from vitexplorer.ui.shell.room_sign import Signs
from vitexplorer.ui.shell.saved_views import SavedViews, saved_views_data
from vitexplorer.ui.shell.status import StatusData, StatusLine


@dataclass(frozen=True)
class Visit:
    """Components of the frame around the rooms, and the events that change them."""

    requested: gr.State
    """State with the requested Address"""
    image: ImageChip
    model: ModelChip
    size: SizeChip
    status: StatusLine
    saved_views: SavedViews
    header: Header
    rail: Rail
    guide: Guide
    tabs: gr.Tabs
    rooms: Signs

    @property
    def components(self) -> list[Block]:
        """Components that `start` writes to; the size is unknown before there is a capture."""
        return [getattr(self, part.name) for part in fields(self) if part.name not in ("size", "rooms")]

    def start(self, request: gr.Request) -> Updates:
        """Fill the frame as the page's URL asks; the event that follows fills the rooms."""
        language = language_of_request(request.request)
        address = replace(self._read(request.query_params), language=language)
        return self.enter(address) | {
            self.status: StatusData(text=word("status_engine", language)),
            self.saved_views: saved_views_data(language),
            self.header: header_data(language, settings().frames),
            self.guide: guide_data(language),
        }

    def choose(self, event: gr.EventData, address: Address, tuned: Iterable[TunedChoice] = ()) -> Updates:
        """Choose another image, model, weights, size or fit; an event of the browser that names none is ignored."""
        changes = _choice(fields_of(event), address)
        if changes == {}:
            return gr.skip()
        address = replace(address, **changes)
        return {
            self.requested: address,
            self.image: image_chip(address) if "image" in changes else gr.skip(),
            self.model: model_chip(address, settings(), tuned),
        }

    def go(self, event: gr.EventData, before: Address) -> Updates:
        """Follow a link without reloading the page."""
        query = fields_of(event).get("query")
        if query is None:
            return gr.skip()
        address = self._read(dict(parse_qsl(query)))
        return self.enter(replace(address, opened=before.opened + 1, language=before.language))

    def _read(self, parameters: Mapping[str, str]) -> Address:
        """Read the address of a URL; the first room replaces a room that this installation does not have."""
        address = Address.read(parameters)
        return address if any(room.key == address.room for room in self.rooms) else replace(address, room=Address.room)

    @property
    def of_choice(self) -> list[Block]:
        """Components that `go` and `enter` write to."""
        return [self.requested, self.image, self.model, self.rail]

    def enter(self, address: Address) -> Updates:
        """Show the frame of an address: its room, model and image."""
        return {
            self.requested: address,
            self.image: image_chip(address),
            self.model: model_chip(address, settings()),
            self.rail: rail_data(self.rooms, address),
        }


RESET_BY = {
    "model": ("size", "block", "head", "query", "target", "start", "other_block"),
    "image": ("query", "target", "other_block"),
    "size": ("query", "other_block"),
    "fit": ("query", "other_block"),
    "weights": ("other_block",),
}
"""Fields of the address that a choice resets, by the field that a person chooses"""


def _choice(sent: Mapping[str, Any], address: Address) -> dict[str, str]:
    """Return the fields of the address that a choice changes; none if the browser sent anything else."""
    if len(sent) != 1:
        return {}
    (name, value), *_ = sent.items()
    if name not in RESET_BY:
        return {}
    read = Address.read({**address.parameters(), name: value})
    return {**dict.fromkeys(RESET_BY[name], ""), name: value} if getattr(read, name) == value else {}


def rail_data(rooms: Signs, address: Address) -> RailData:
    """Return the rooms of this installation, and the key of the open one."""
    language = address.language
    return RailData(
        label=word("rooms", language),
        learn=word("learn", language),
        rooms=[
            RailItem(key=sign.key, title=sign.title.in_(language), icon=sign.icon, group=sign.group.in_(language))
            for sign in rooms
        ],
        room=address.room,
        first=Address().room,
    )
