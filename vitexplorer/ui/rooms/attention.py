"""The Attention room: every head of a block on the image, read with the mouse.

One block travels to the browser once; a block change is one small round trip, and its neighbours are fetched ahead.
An attention too large to send is sent a query at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gradio as gr
import numpy as np
from gradio.components.base import Component
from gradio.data_classes import FileData

from vitexplorer.settings import settings
from vitexplorer.types import Query, prefix_text
from vitexplorer.ui.address import Address
from vitexplorer.ui.canvas import (
    MEAN,
    AttentionCanvas,
    CanvasData,
    Selection,
    attention_file,
    canvas_words,
    packed_bytes,
)
from vitexplorer.ui.canvas.canvas import query_of, query_text
from vitexplorer.ui.engine import Explored
from vitexplorer.ui.files import image_file
from vitexplorer.ui.language import word
from vitexplorer.ui.rooms.panel import RoomPanel
from vitexplorer.ui.rooms.room import QUICK, Desk, Room, about
from vitexplorer.words import Language

if TYPE_CHECKING:
    from vitexplorer.capture import Capture

FETCHED_AHEAD = 4 << 20
"""bytes of a block's attention up to which its neighbours are sent before they are asked for"""


class AttentionRoom(Room):
    """Where does this token look, in every head?"""

    key = "attention"

    def build(self) -> list[Component]:
        """Block slider and canvas, then the words about it."""
        t, state = self.desk.t, [self.desk.address, self.desk.language]
        block = gr.Slider(0, 11, 11, step=1, label=t("block"), elem_id="vx-block", elem_classes=["vx-slim"])
        canvas = AttentionCanvas(elem_id="vx-attention-canvas")
        words = gr.Markdown(elem_classes=["vx-note", "vx-about"])
        with gr.Accordion(t("python_lines"), open=False):
            code = gr.Code(language="python", show_label=False, interactive=False)
        self.panel = RoomPanel(self.desk, self.key, own=("attention_map", "head_gallery"))
        self.panel.build()
        picked = gr.State(None)  # head and query that the visitor chose, for the lines of Python
        self.panel.panel.open(self.open, state, [block, canvas, code, picked], **QUICK)
        block.input(self.show_block, [block, picked, *state], [canvas, code], trigger_mode="always_last", **QUICK)
        block.input(None, block, None, js="(block) => { window.vxAddress({block}); }", **QUICK)
        canvas.patch_select(self.select, [block, *state], [canvas, code, picked], trigger_mode="always_last", **QUICK)
        return [block, canvas, words, code, picked]

    def fill(self, explored: Explored, address: Address, language: Language) -> list[Any]:
        """The block, head and query that the address asks for; the last block and the class token where it does not."""
        capture = explored.capture
        block = min(int(address.block or capture.depth - 1), capture.depth - 1)
        data = block_data(capture, block, language)
        data.head = address.head or "mean"
        data.query = query_text(query_of(address.query, data) or default_query(capture))
        slider = gr.Slider(maximum=capture.depth - 1, value=block)
        return [
            slider,
            data,
            about("attention_map", language),
            code_of(self.desk, address, block, data.head, data.query),
            (data.head, data.query),
        ]

    def show_block(
        self, block: float, picked: tuple[str, str] | None, address: Address, language: Language
    ) -> list[Any]:
        """Another block of the same capture; head and query stay what the visitor chose in the browser."""
        capture = self.desk.engine.capture(address.picture)
        data = block_data(capture, max(0, min(int(block), capture.depth - 1)), language)
        head, query = picked or ("mean", "")
        query = query if query_of(query, data) else query_text(default_query(capture))
        return [data, code_of(self.desk, address, data.block, head, query)]

    def open(self, event: gr.EventData, address: Address, language: Language) -> list[Any]:
        """A head was chosen from the whole network: its map, from the query that a block begins with."""
        capture = self.desk.engine.capture(address.picture)
        block, head = event._data.get("block"), event._data.get("head")
        if not (isinstance(block, int) and 0 <= block < capture.depth):
            return [gr.skip()] * 4
        if not (isinstance(head, int) and 0 <= head < capture.num_heads(block)):
            return [gr.skip()] * 4
        data = block_data(capture, block, language)
        data.head, data.query = str(head), query_text(default_query(capture))
        return [block, data, code_of(self.desk, address, block, data.head, data.query), (data.head, data.query)]

    def select(self, event: gr.EventData, block: float, address: Address, language: Language) -> list[Any]:
        """A query or head was picked: the lines of Python follow, and so does the map where rows are sent singly."""
        capture = self.desk.engine.capture(address.picture)
        frame = frame_data(capture, max(0, min(int(block), capture.depth - 1)), language)
        picked = Selection.read(event._data, frame)
        if picked is None or picked.block != frame.block:
            return [gr.skip(), gr.skip(), gr.skip()]
        chosen = (picked.head, query_text(picked.query))
        code = code_of(self.desk, address, picked.block, *chosen)
        if fits(capture, picked.block):
            return [gr.skip(), code, chosen]
        frame.attention = row_file(capture, picked.block, picked.query)
        return [frame, code, chosen]


def default_query(capture: Capture) -> Query:
    """The class token where there is one, otherwise the mean over patches."""
    return "cls" if "cls" in capture.prefix_tokens else "mean"


def code_of(desk: Desk, address: Address, block: int, head: str, query: str) -> str:
    """The lines of Python that give the map on the canvas."""
    row_col = tuple(int(n) for n in query.split(",")) if "," in query else query
    return desk.python_lines(
        address, "attention_map", block=block, head=int(head) if head.isdigit() else head, query=row_col
    )


def frame_data(capture: Capture, block: int, language: Language) -> CanvasData:
    """All that the canvas shows of a block but its attention."""
    grid, provenance = capture.grid(block), capture.provenance
    return CanvasData(
        image=image_file(capture.input.pixels),
        rows=grid.rows,
        cols=grid.cols,
        prefix=list(capture.prefix_tokens),
        prefix_labels=[prefix_text(name).in_(language) for name in capture.prefix_tokens],
        model=provenance.model,
        weights=provenance.weights_text.in_(language),
        formula="softmax(q kᵀ / √d + bias)",
        warning=word("random_on_picture", language) if provenance.is_random else "",
        block=block,
        depth=capture.depth,
        heads=capture.num_heads(block),
        link="attention",
        words=canvas_words(language),
    )


def block_data(capture: Capture, block: int, language: Language) -> CanvasData:
    """A block for the canvas, with its neighbours where they are small; one row of it where it is too large to send."""
    data = frame_data(capture, block, language)
    if not fits(capture, block):
        data.attention = row_file(capture, block, default_query(capture))
        return data
    data.attention = block_file(capture, block)
    near = {side: other for side, other in (("before", block - 1), ("after", block + 1)) if 0 <= other < capture.depth}
    for side, other in near.items():
        if size(capture, other) <= FETCHED_AHEAD:
            setattr(data, side, block_file(capture, other))
    return data


def size(capture: Capture, block: int) -> int:
    """Bytes of a block's attention on its way to the browser."""
    windows, tokens = capture.positions(block).shape
    return packed_bytes(windows, capture.num_heads(block), tokens, tokens)


def fits(capture: Capture, block: int) -> bool:
    """Whether a block's attention may be sent in one piece."""
    return size(capture, block) <= settings().payload_megabytes * 1e6


def block_file(capture: Capture, block: int) -> FileData:
    """All heads and queries of a block."""
    return attention_file(capture.call(block).weights().cpu().numpy(), capture.positions(block))


def row_file(capture: Capture, block: int, query: Query) -> FileData:
    """All heads of one query of a block, as a row over the whole grid."""
    on_patches, on_prefix, _ = (part.cpu().numpy() for part in capture.attention_from(query, block))
    grid, prefix = capture.grid(block), -1 - np.arange(len(capture.prefix_tokens))
    row = np.concatenate([on_prefix, on_patches], axis=1)[None, :, None]
    code = MEAN if query == "mean" else capture.token(query, block)
    if query != "mean":
        code = -1 - code if isinstance(query, str) else code - len(prefix)
    return attention_file(row, np.concatenate([prefix, np.arange(grid.num_patches)])[None], np.array([[code]]))
