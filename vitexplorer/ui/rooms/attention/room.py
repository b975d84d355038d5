"""The Attention room: every head of a block on the image, read with the mouse, and all heads of all blocks below.

One block travels to the browser once; a block change is one small round trip, and its neighbours are fetched ahead. The
rows of one query of every block are there before they are asked for, and shown until the whole block is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import gradio as gr
from gradio.components import Component

from vitexplorer.core.text import Language, Text
from vitexplorer.core.types import Query
from vitexplorer.service.answer_threads import in_thread
from vitexplorer.service.engine import Explored
from vitexplorer.ui.canvas.all_heads import strip_of
from vitexplorer.ui.canvas.block_data import block_data, carried, default_query, frame_data, is_block, shown_query
from vitexplorer.ui.canvas.canvas import AttentionCanvas, CanvasData, Selection, head_of, query_of, query_text
from vitexplorer.ui.gradio_adapter.events import fields_of
from vitexplorer.ui.panel.room_figures import RoomFigures
from vitexplorer.ui.rooms.room import Room
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import QUICK, Updates

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture


class AttentionRoom(Room):
    """Every head of every block, from any patch."""

    key = "attention"
    title = Text("Attention", "注意力")
    invitation = Text("Which of them does the model look at", "模型看哪些图块")
    icon = "M2 12c3-5 6.5-7 10-7s7 2 10 7c-3 5-6.5 7-10 7s-7-2-10-7z M15 12a3 3 0 1 1-6 0a3 3 0 0 1 6 0z"

    def build(self) -> list[Component]:
        """The canvas, and the panel of the room's other views."""
        state, latest = [self.desk.address, self.desk.language], {"trigger_mode": "always_last", **QUICK}
        with gr.Column(elem_classes=["vx-views"]):
            self.canvas = AttentionCanvas(elem_id="vx-attention-canvas")
            self.panel = RoomFigures(self.desk, self.key, own=("attention_map", "head_gallery"))
            self.panel.build()
        self.panel.panel.open(self.open, state, self.canvas, **QUICK)
        self.canvas.choose_block(self.show_block, state, self.canvas, **latest)
        self.canvas.patch_select(self.select, state, self.canvas, **latest)
        return [self.canvas]

    def fill(self, explored: Explored, address: Address, language: Language) -> Updates:
        """The block, head and query that the address asks for; the last block and its first query where it does not."""
        capture = explored.capture
        block = min(int(address.block or capture.depth - 1), capture.depth - 1)
        query = query_of(address.query, frame_data(capture, block, language)) or default_query(capture, block)
        data = self.data(capture, address, language, block, address.head or "mean", query)
        return {self.canvas: data.model_copy(update=address.display)}

    async def show_block(self, event: gr.EventData, address: Address, language: Language) -> Updates:
        """Another block of the same capture; head and query stay what the visitor chose in the browser."""
        capture, block = await self.desk.engine.capture(address.picture), fields_of(event).get("to")
        picked = self._picked(event, capture, language)
        if picked is None or not is_block(block, capture):
            return gr.skip()
        query = carried(capture, picked.query, picked.block, block)
        chosen = (block, picked.head, query, picked.asked)
        return {self.canvas: await in_thread(self.data, capture, address, language, *chosen)}

    async def open(self, event: gr.EventData, address: Address, language: Language) -> Updates:
        """A head was chosen from the whole network: its map, from the query that a block begins with."""
        capture = await self.desk.engine.capture(address.picture)
        block, head = fields_of(event).get("block"), fields_of(event).get("head")
        if not is_block(block, capture) or not isinstance(head, int) or not 0 <= head < capture.num_heads(block):
            return gr.skip()
        chosen = (block, str(head), default_query(capture, block))
        return {self.canvas: await in_thread(self.data, capture, address, language, *chosen)}

    async def select(self, event: gr.EventData, address: Address, language: Language) -> Updates:
        """A query or head was picked: the lines of Python follow, and so does the map where rows are sent singly."""
        capture = await self.desk.engine.capture(address.picture)
        picked = self._picked(event, capture, language)
        if picked is None:
            return gr.skip()
        chosen = (picked.block, picked.head, picked.query, picked.asked)
        return {self.canvas: await in_thread(self.data, capture, address, language, *chosen)}

    def _picked(self, event: gr.EventData, capture: Capture, language: Language) -> Selection | None:
        fields = fields_of(event)
        block = fields.get("block")
        return Selection.read(fields, frame_data(capture, block, language)) if is_block(block, capture) else None

    def data(
        self,
        capture: Capture,
        address: Address,
        language: Language,
        block: int,
        head: str,
        query: Query,
        asked: int = 0,
    ) -> CanvasData:
        """The canvas for a block, a head and a query, with all that stands beside the picture."""
        data = block_data(capture, block, language, query)
        data.asked, data.head, data.query = asked, head, query_text(query)
        data.walks = capture.depth > 1
        data.strip = strip_of(capture, block, query, language)
        python = self.code_of(address, capture, data, head, query)
        return data.model_copy(update=self.around("attention_map", language, python=python))

    def code_of(self, address: Address, capture: Capture, data: CanvasData, head: str, query: Query) -> str:
        """The lines of Python that give the map on the canvas, which may have been asked for another head or query."""
        head = head_of(head, data.heads) or "mean"
        return self.desk.python_lines(
            address,
            "attention_map",
            block=data.block,
            head=int(head) if head.isdigit() else head,
            query=shown_query(capture, data.block, query),
        )
