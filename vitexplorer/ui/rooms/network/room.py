"""The Network room: the whole forward pass in one picture, which the mouse and a button run through."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import gradio as gr

from vitexplorer.core.network_result import NetworkResult
from vitexplorer.core.text import ExplainedError, Text
from vitexplorer.core.types import Query
from vitexplorer.service.answer_threads import in_thread
from vitexplorer.ui.gradio_adapter.events import fields_of
from vitexplorer.ui.gradio_adapter.types import Block
from vitexplorer.ui.network.network import NetworkData, NetworkPicture, network_data
from vitexplorer.ui.panel.room_figures import RoomFigures
from vitexplorer.ui.rooms.room import Room
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import LATEST, QUICK, Listen, Updates

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture


class NetworkRoom(Room):
    """The whole pass in one picture: tokens after every block, where heads read, and how the answer is made."""

    key = "network"
    title = Text("Network", "全貌")
    invitation = Text("The whole pass at once", "一图看完整个前向过程")
    icon = "M3 7h4v10H3z M10 4h4v16h-4z M17 8h4v8h-4z M7 9l3-2 M7 15l3 2 M14 8l3 2 M14 16l3-2"

    def build(self) -> list[Block]:
        """Build the picture, and the panel that takes its place for a model without tokens."""
        with gr.Column(elem_classes=["vx-views"]):
            self.picture = NetworkPicture()
            self.panel = RoomFigures(self.context, self.key, own=("network",))
            self.panel.build()
        self.picture.follow(self.follow, self.context.address, self.picture, **LATEST)
        self.filled = gr.State(None)  # the address that the picture was filled for
        return []

    def enter_on(self, listen: Listen, active: gr.State) -> None:
        """Fill the picture only when the room is entered, so that no other room waits for it."""
        listen(self.enter, [active, self.context.address, self.filled], [self.picture, self.filled], **QUICK)
        super().enter_on(listen, active)

    async def enter(self, active: str, address: Address, filled: Address | None) -> Updates:
        """Show the pass of the address, following the token for the whole image."""
        from vitexplorer.views import refusal

        if active != self.key or filled == address or address == Address():
            return gr.skip()
        capture = await self.context.engine.capture(address.picture)
        if refusal("network", capture):
            return {self.filled: address}
        query = valid_settings(capture)["query"]  # the browser asks for the token of its address
        return {self.picture: await in_thread(self.data, capture, address, query), self.filled: address}

    async def follow(self, event: gr.EventData, address: Address) -> Any:
        """Follow another token; with `whole`, run the model for the view itself: what its blocks add to the logit."""
        if address == Address():
            return gr.skip()
        capture = await self.context.engine.capture(address.picture)
        sent = fields_of(event)
        settings = valid_settings(capture, query=sent.get("query") or "", target=sent.get("target") or "")
        result = None
        if sent.get("whole"):
            result = await self.context.engine.compute(address.picture, capture, "network", settings)
        return {self.picture: await in_thread(self.data, capture, address, settings["query"], result)}

    def data(
        self, capture: Capture, address: Address, query: Query, result: NetworkResult | None = None
    ) -> NetworkData:
        """Return the data of the picture, with everything beside it."""
        data = network_data(capture, query, address.language, result)
        return data.model_copy(update=self.around("network", address, query=query))


def valid_settings(capture: Capture, **written: str) -> dict[str, Any]:
    """Return the settings of the view; what is empty, or of another model, takes its default."""
    from vitexplorer.views import VIEWS

    settings = VIEWS["network"].settings(capture, {})
    for name, value in written.items():
        with suppress(ExplainedError):
            settings[name] = VIEWS["network"].settings(capture, {name: value} if value else {})[name]
    return settings
