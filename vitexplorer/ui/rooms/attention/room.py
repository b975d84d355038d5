"""The Attention room: the heads of one block on the image, read with the mouse, and all heads of all blocks below.

The browser fetches each block once, and begins when the pointer is on its maps. Another block takes one small round
trip. The rows of one query in every block are sent in advance; they are shown until the whole block has arrived.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import gradio as gr
from gradio.components import Component

from vitexplorer.controls import written_value
from vitexplorer.core.settings import settings
from vitexplorer.core.text import Text
from vitexplorer.models.catalog import find
from vitexplorer.models.examples import examples
from vitexplorer.service.answer_threads import in_thread
from vitexplorer.service.engine import TimedCapture
from vitexplorer.service.first_picture import DINO
from vitexplorer.ui.canvas.all_heads import strip_of
from vitexplorer.ui.canvas.block_data import block_data, carried, default_query, frame_data, is_block, valid_query
from vitexplorer.ui.canvas.canvas import FILLINGS, AttentionCanvas, CanvasData, Selection, head_of, query_of
from vitexplorer.ui.canvas.files import sharpened_address
from vitexplorer.ui.gradio_adapter.events import fields_of
from vitexplorer.ui.panel.room_figures import RoomFigures
from vitexplorer.ui.rooms.room import Room
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import LATEST, QUICK, Updates

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture


def _is_light(address: Address) -> bool:
    """Return True for an example in a bundled model or in the first picture's, whose maps all visitors share."""
    entry = find(address.model)
    is_quick = entry is not None and (entry.bundled or entry.name == DINO) and address.weights == "trained"
    return is_quick and address.image in examples()


class AttentionRoom(Room):
    """Every head of every block, from any patch."""

    key = "attention"
    title = Text("Attention", "注意力")
    invitation = Text("Which of them does the model look at", "模型看哪些图块")
    icon = "M2 12c3-5 6.5-7 10-7s7 2 10 7c-3 5-6.5 7-10 7s-7-2-10-7z M15 12a3 3 0 1 1-6 0a3 3 0 0 1 6 0z"

    def build(self) -> list[Component]:
        """Build the canvas and the panel of the room's other views."""
        with gr.Column(elem_classes=["vx-views"]):
            self.canvas = AttentionCanvas(elem_id="vx-attention-canvas")
            self.panel = RoomFigures(self.context, self.key, own=("attention_map", "head_gallery"))
            self.panel.build()
        address = self.context.address
        self.panel.panel.open(self.open, address, self.canvas, **QUICK)
        self.canvas.choose_block(self.show_block, address, self.canvas, **LATEST)
        self.canvas.patch_select(self.select, address, self.canvas, **LATEST)
        return [self.canvas]

    def fill(self, timed_capture: TimedCapture, address: Address) -> Updates:
        """Show block, head and query of the address; by default the last block and its default query."""
        capture = timed_capture.capture
        block = min(int(address.block or capture.depth - 1), capture.depth - 1)
        query = query_of(address.query, frame_data(capture, block, address.language)) or default_query(capture, block)
        data = self.data(capture, address, Selection(block, address.head or "mean", query))
        data.filled = next(FILLINGS)
        data.welcomes = _is_light(address)
        data.sharpens_itself = data.welcomes and settings().first_sharpens and not address.sharpen
        return {self.canvas: data.model_copy(update=address.display)}

    async def show_block(self, event: gr.EventData, address: Address) -> Updates:
        """Show another block of the same capture; head and query stay what the visitor chose in the browser."""
        capture = await self.context.engine.capture(address.picture)
        block = fields_of(event).get("to")
        picked = self._picked(event, capture, address)
        if picked is None or not is_block(block, capture):
            return gr.skip()
        selection = replace(picked, block=block, query=carried(capture, picked.query, picked.block, block))
        return {self.canvas: await in_thread(self.data, capture, address, selection)}

    async def open(self, event: gr.EventData, address: Address) -> Updates:
        """Show the head that was chosen in a figure of all heads, from the block's default query."""
        capture = await self.context.engine.capture(address.picture)
        block, head = fields_of(event).get("block"), fields_of(event).get("head")
        if not is_block(block, capture) or not isinstance(head, int) or not 0 <= head < capture.num_heads(block):
            return gr.skip()
        selection = Selection(block, str(head), default_query(capture, block))
        return {self.canvas: await in_thread(self.data, capture, address, selection)}

    async def select(self, event: gr.EventData, address: Address) -> Updates:
        """Answer a picked query or head with new Python code, and with its map where queries are sent one at a time."""
        capture = await self.context.engine.capture(address.picture)
        picked = self._picked(event, capture, address)
        if picked is None:
            return gr.skip()
        return {self.canvas: await in_thread(self.data, capture, address, picked)}

    def _picked(self, event: gr.EventData, capture: Capture, address: Address) -> Selection | None:
        fields = fields_of(event)
        block = fields.get("block")
        if not is_block(block, capture):
            return None
        return Selection.read(fields, frame_data(capture, block, address.language))

    def data(self, capture: Capture, address: Address, selection: Selection) -> CanvasData:
        """Return the canvas data for a block, a head and a query, with everything beside the picture."""
        block, query = selection.block, selection.query
        data = block_data(capture, block, address.language, query)
        data.asked = selection.asked
        data.head = selection.head
        data.query = written_value(query)
        data.walks = capture.depth > 1
        data.sharpened = sharpened_address(capture, "attention_map", address.language)
        data.sharpened_by = ["block", "head", "query"]
        data.strip = strip_of(capture, block, query, address.language)
        head = head_of(selection.head, data.heads) or "mean"  # the canvas may have replaced the head or query
        settings = {
            "block": block,
            "head": int(head) if head.isdigit() else head,
            "query": valid_query(capture, block, query),
        }
        return data.model_copy(update=self.around("attention_map", address, **settings))
