"""The Size & cost room: parameters and cost of the model by every way of counting, and a calculator for any ViT."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import gradio as gr
from gradio.components import Component

from vitexplorer.core.text import Text
from vitexplorer.core.types import Result
from vitexplorer.quantities.parameter_formulas import ViTShape
from vitexplorer.service.answer_threads import in_thread
from vitexplorer.ui.gradio_adapter.events import fields_of
from vitexplorer.ui.panel.room_figures import BROWSER_VIEW_JS, RoomFigures
from vitexplorer.ui.rooms.room import Room
from vitexplorer.ui.rooms.size.designs import Design
from vitexplorer.ui.rooms.size.size_board import SizeBoard, SizeData
from vitexplorer.ui.rooms.size.sizes import design_sizes, model_sizes
from vitexplorer.ui.rooms.size.words import CALCULATOR_WORDS
from vitexplorer.ui.shell.address import Address, SelectedView
from vitexplorer.ui.shell.room_context import LATEST, QUICK, Listen, Updates

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture


class SizeRoom(Room):
    """Parameters, operations and memory, with a calculator."""

    key = "size"
    title = Text("Size & cost", "规模与开销")
    invitation = Text("How large it is", "模型有多大")
    icon = "M3 20h18 M5 20v-5h4v5 M10 20V9h4v11 M15 20V4h4v16"

    def build(self) -> list[Component]:
        """Build the board, and the room's figures in a closed accordion."""
        self.filled = gr.State(None)
        self.board = SizeBoard(elem_id="vx-size-board")
        title = self.context.t(CALCULATOR_WORDS["figures"])
        with gr.Accordion(title, open=False, elem_id="vx-size-figures") as self.figures:
            self.panel = RoomFigures(self.context, self.key)
            self.panel.build()
        self.board.design(self.design, self.context.address, self.board, **LATEST)
        return []

    def enter_on(self, listen: Listen, active: gr.State) -> None:
        """Count when the room is entered, and when the model changes."""
        inputs = [active, self.context.address, self.filled, self.context.browser]
        listen(self.enter, inputs, [self.board, self.filled, self.figures], js=BROWSER_VIEW_JS, **QUICK)
        super().enter_on(listen, active)

    async def enter(self, active: str, address: Address, filled: Address | None, browser_view: str = "") -> Updates:
        """Show the model on the screen; after a new link, the design and the figures that it names."""
        if active != self.key or filled == address or address == Address():
            return gr.skip()
        is_new_link = filled is None or filled.opened != address.opened
        updates: Updates = {
            self.board: await self.data(Design.read(address.design if is_new_link else ""), address),
            self.filled: address,
        }
        named = SelectedView.read(browser_view)
        if named.room == self.key and named.view:
            updates[self.figures] = gr.Accordion(open=True)
        return updates

    async def design(self, event: gr.EventData, address: Address) -> SizeData:
        """Show the design of the sliders, sent as text in the format of the address."""
        text = fields_of(event).get("text")
        if text is None or address == Address():
            return gr.skip()
        data = await self.data(Design.read(text), address)
        data.asked = fields_of(event).get("asked", 0)
        return data

    async def data(self, design: Design, address: Address) -> SizeData:
        """Return the board's data for a design, or for the model where the design is empty."""
        from vitexplorer.views import refusal

        engine = self.context.engine
        picture = address.picture
        capture = await engine.capture(picture)
        counts, cost = None, None
        if not design:
            counts = await engine.compute(picture, capture, "parameters", {})
            cost = None if refusal("cost", capture) else await engine.compute(picture, capture, "cost", {})
        return await in_thread(self._board, design, address, capture, counts, cost)

    def _board(
        self, design: Design, address: Address, capture: Capture, counts: Result | None, cost: Result | None
    ) -> SizeData:
        from vitexplorer.views.parameters import shape_of

        if design:
            shape = shape_of(capture.model.module)
            size = capture.input.pixels.shape[:2]
            own = replace(shape, image_size=size) if isinstance(shape, ViTShape) else None
            data = design_sizes(design, own, address.language)
        else:
            title = self.context.engine.places.title_of(address.model)
            data = model_sizes(capture, title, counts, cost, address.language)
        question = CALCULATOR_WORDS["question"].in_(address.language)
        return data.model_copy(update={**self.around("parameters", address), "question": question})
