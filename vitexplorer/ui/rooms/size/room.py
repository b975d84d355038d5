"""The Size & cost room: the model on the screen in every counting, and a calculator for any ViT in the same table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import gradio as gr
from gradio.components.base import Component

from vitexplorer.core.text import Language, Text
from vitexplorer.quantities.parameter_formulas import ViTShape
from vitexplorer.ui.panel.room_figures import SHOWN, RoomFigures
from vitexplorer.ui.rooms.room import Room
from vitexplorer.ui.rooms.size.data import SizeData
from vitexplorer.ui.rooms.size.designs import Design
from vitexplorer.ui.rooms.size.size_board import SizeBoard
from vitexplorer.ui.rooms.size.sizes import design_sizes, model_sizes
from vitexplorer.ui.rooms.size.words import CALCULATOR_WORDS
from vitexplorer.ui.shell.address import Address, ShownView
from vitexplorer.ui.shell.room_context import QUICK, Listen, Updates

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture


class SizeRoom(Room):
    """Parameters, operations and memory, with a calculator."""

    key = "size"
    title = Text("Size & cost", "规模与开销")
    invitation = Text("How large it is", "模型有多大")
    icon = "M3 20h18 M5 20v-5h4v5 M10 20V9h4v11 M15 20V4h4v16"

    def build(self) -> list[Component]:
        """The board, and the room's figures for those who ask."""
        self.filled = gr.State(None)
        self.board = SizeBoard(elem_id="vx-size-board")
        title = self.desk.t(CALCULATOR_WORDS["figures"])
        with gr.Accordion(title, open=False, elem_id="vx-size-figures") as self.figures:
            self.panel = RoomFigures(self.desk, self.key)
            self.panel.build()
        state = [self.desk.address, self.desk.language]
        self.board.design(self.design, state, self.board, trigger_mode="always_last", **QUICK)
        return []

    def enter_on(self, listen: Listen, active: gr.State) -> None:
        """Count when the room is entered, and when the model is another."""
        state = [active, self.desk.address, self.filled, self.desk.language, self.panel.said]
        listen(self.enter, state, [self.board, self.filled, self.figures], js=SHOWN, **QUICK)
        super().enter_on(listen, active)

    def enter(
        self, active: str, address: Address, filled: Address | None, language: Language, said: str = ""
    ) -> Updates:
        """The model on the screen; of a link that was just opened its design, and the figures that it names."""
        if active != self.key or filled == address or address == Address():  # nothing is captured yet
            return gr.skip()
        linked = filled is None or filled.opened != address.opened
        entered: Updates = {
            self.board: self.data(Design.read(address.design if linked else ""), address, language),
            self.filled: address,
        }
        named = ShownView.read(said)
        return entered | ({self.figures: gr.Accordion(open=True)} if named.room == self.key and named.view else {})

    def design(self, event: gr.EventData, address: Address, language: Language) -> SizeData:
        """Board for what the sliders describe, read as an address is."""
        text = event._data.get("text")
        if text is None or address == Address():
            return gr.skip()
        data = self.data(Design.read(text), address, language)
        data.asked = event._data.get("asked", 0)
        return data

    def data(self, design: Design, address: Address, language: Language) -> SizeData:
        """The board for a design, or for the model where nothing is designed."""
        from vitexplorer.views.parameters import shape_of

        capture = self.desk.engine.capture(address.picture)
        shape = shape_of(capture.model.module)
        if design:
            size = capture.input.pixels.shape[:2]
            own = replace(shape, image_size=size) if isinstance(shape, ViTShape) else None
            data = design_sizes(design, own, language)
        else:
            data = self._of_model(capture, shape, address, language)
        python = self.desk.python_lines(address, "parameters")
        frame = self.around("parameters", language, python=python)
        return data.model_copy(update={**frame, "question": CALCULATOR_WORDS["question"].in_(language)})

    def _of_model(self, capture: Capture, shape: object, address: Address, language: Language) -> SizeData:
        """The model on the screen, counted from its module and by one pass that computes nothing."""
        from vitexplorer.quantities.story import counted, multiplied
        from vitexplorer.views import refusal

        compute, picture = self.desk.engine.compute, address.picture
        size = capture.input.pixels.shape[:2]
        cost = None if refusal("cost", capture) else compute(picture, capture, "cost", {})
        return model_sizes(
            self.desk.engine.places.title_of(address.model),
            shape,
            counted(capture.model.module),
            compute(picture, capture, "parameters", {}),
            cost,
            multiplied(cost) if cost else None,
            size,
            language,
        )
