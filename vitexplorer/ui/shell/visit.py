"""Events of a visit: a visitor arrives, or picks another image, model, weights, size or fit.

Every event reads the address that is wanted and gives the next one; nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import parse_qsl

import gradio as gr

from vitexplorer.core.settings import settings
from vitexplorer.core.text import Language
from vitexplorer.service.user_storage import TunedChoice
from vitexplorer.ui.gradio_adapter.events import fields_of
from vitexplorer.ui.gradio_adapter.types import Block
from vitexplorer.ui.kit.language import language_of_request, word
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.guide import Guide, guide_data
from vitexplorer.ui.shell.header import Header, header_data
from vitexplorer.ui.shell.image_chip import ImageChip, image_chip
from vitexplorer.ui.shell.kept_views import KeptViews, kept_data
from vitexplorer.ui.shell.model_chip import ModelChip
from vitexplorer.ui.shell.model_menu import model_chip
from vitexplorer.ui.shell.rail import Rail, RailData, RailItem
from vitexplorer.ui.shell.room_context import Updates
from vitexplorer.ui.shell.room_sign import Signs
from vitexplorer.ui.shell.size_chip import SizeChip
from vitexplorer.ui.shell.status import StatusData, StatusLine


@dataclass(frozen=True)
class Visit:
    """The frame around the rooms, as one visitor has it."""

    language: gr.State
    wanted: gr.State
    """the Address that is asked for"""
    image: ImageChip
    model: ModelChip
    size: SizeChip
    status: StatusLine
    kept: KeptViews
    header: Header
    rail: Rail
    guide: Guide
    tabs: gr.Tabs
    rooms: Signs

    @property
    def components(self) -> list[Block]:
        """Components that an arrival writes to; of the size nothing is known before there is a capture."""
        return [getattr(self, part.name) for part in fields(self) if part.name not in ("size", "rooms")]

    def start(self, request: gr.Request) -> Updates:
        """The page as its URL asks for it; the rooms are filled by the event that follows."""
        language = language_of_request(request)
        address = self._read(request.query_params)
        return {
            self.language: language,
            self.wanted: address,
            self.image: image_chip(address.image, language),
            self.model: model_chip(address, language, settings()),
            self.status: StatusData(text=word("status_engine", language)),
            self.kept: kept_data(language),
            self.header: header_data(language, settings().frames),
            self.rail: rail_data(self.rooms, address.room, language),
            self.guide: guide_data(language),
            self.tabs: gr.Tabs(selected=address.room),
        }

    def choose(
        self, event: gr.EventData, address: Address, language: Language, tuned: Iterable[TunedChoice] = ()
    ) -> Updates:
        """Another image, model, weights, size or fit, as the browser names it; what is none of these is not heard."""
        changes = _choice(fields_of(event), address)
        if changes == {}:
            return gr.skip()
        address = replace(address, **changes)
        return {
            self.wanted: address,
            self.image: image_chip(address.image, language) if "image" in changes else gr.skip(),
            self.model: model_chip(address, language, settings(), tuned),
        }

    def go(self, event: gr.EventData, before: Address, language: Language) -> Updates:
        """What a link says, without loading the page anew."""
        query = fields_of(event).get("query")
        if query is None:
            return gr.skip()
        return self.enter(replace(self._read(dict(parse_qsl(query))), opened=before.opened + 1), language)

    def _read(self, parameters: Mapping[str, str]) -> Address:
        """The address of a URL, in the first room where it names one that is not here."""
        address = Address.read(parameters)
        return address if any(room.key == address.room for room in self.rooms) else replace(address, room=Address.room)

    @property
    def of_choice(self) -> list[Block]:
        """Components that another choice of model and image writes to."""
        return [self.wanted, self.image, self.model, self.rail, self.tabs]

    def enter(self, address: Address, language: Language) -> Updates:
        """A room with a model and an image, as an address has them."""
        return {
            self.wanted: address,
            self.image: image_chip(address.image, language),
            self.model: model_chip(address, language, settings()),
            self.rail: rail_data(self.rooms, address.room, language),
            self.tabs: gr.Tabs(selected=address.room),
        }


BOTH = ("both_block", "both_head", "both_query", "other_block")
_ANEW = {
    "model": ("size", "block", "head", "query", "source", "start", *BOTH),
    "image": ("query", "source", *BOTH),
    "size": ("query", "source", *BOTH),
    "fit": ("query", "source", *BOTH),
    "weights": BOTH,
}
"""what a person may choose, and which fields of the address then begin anew"""


def _choice(sent: Mapping[str, Any], address: Address) -> dict[str, str]:
    """Fields of the address that a choice changes; none where a browser sent what is no choice."""
    if len(sent) != 1:
        return {}
    (name, value), *_ = sent.items()
    if name not in _ANEW:
        return {}
    read = Address.read({**address.parameters(), name: value})
    return {**dict.fromkeys(_ANEW[name], ""), name: value} if getattr(read, name) == value else {}


def rail_data(rooms: Signs, room: str, language: Language) -> RailData:
    """The rooms of this installation, and the one that is looked at."""
    items = [RailItem(key=one.key, title=one.title.in_(language), icon=one.icon, apart=one.apart) for one in rooms]
    return RailData(
        label=word("rooms", language), learn=word("learn", language), rooms=items, room=room, first=Address().room
    )
