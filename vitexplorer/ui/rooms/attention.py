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

from vitexplorer.controls import QueryControl
from vitexplorer.settings import settings
from vitexplorer.types import PatchGrid, Query, prefix_text
from vitexplorer.ui.address import Address
from vitexplorer.ui.canvas import (
    MEAN,
    AttentionCanvas,
    CanvasData,
    KeyGrid,
    Selection,
    attention_file,
    canvas_words,
    kept_file,
    packed_bytes,
)
from vitexplorer.ui.canvas.canvas import head_of, looks, query_of, query_text
from vitexplorer.ui.desk import QUICK, Updates
from vitexplorer.ui.engine import Explored
from vitexplorer.ui.files import image_file
from vitexplorer.ui.language import word
from vitexplorer.ui.rooms.room import Room
from vitexplorer.ui.rooms.room_figures import RoomFigures
from vitexplorer.words import Language

if TYPE_CHECKING:
    from vitexplorer.capture import Capture

FETCHED_AHEAD = 4 << 20
"""bytes of a block's attention up to which its neighbours are sent before they are asked for"""


class AttentionRoom(Room):
    """Where does this token look, in every head?"""

    key = "attention"

    def build(self) -> list[Component]:
        """The canvas, and the panel of the room's other views."""
        state, latest = [self.desk.address, self.desk.language], {"trigger_mode": "always_last", **QUICK}
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
        return {self.canvas: self.data(capture, address, language, block, address.head or "mean", query)}

    def show_block(self, event: gr.EventData, address: Address, language: Language) -> Updates:
        """Another block of the same capture; head and query stay what the visitor chose in the browser."""
        capture, block = self.desk.engine.capture(address.picture), event._data.get("to")
        picked = self._picked(event, capture, language)
        if picked is None or not is_block(block, capture):
            return gr.skip()
        query = carried(capture, picked.query, picked.block, block)
        return {self.canvas: self.data(capture, address, language, block, picked.head, query, picked.asked)}

    def open(self, event: gr.EventData, address: Address, language: Language) -> Updates:
        """A head was chosen from the whole network: its map, from the query that a block begins with."""
        capture = self.desk.engine.capture(address.picture)
        block, head = event._data.get("block"), event._data.get("head")
        if not is_block(block, capture) or not isinstance(head, int) or not 0 <= head < capture.num_heads(block):
            return gr.skip()
        return {self.canvas: self.data(capture, address, language, block, str(head), default_query(capture, block))}

    def select(self, event: gr.EventData, address: Address, language: Language) -> Updates:
        """A query or head was picked: the lines of Python follow, and so does the map where rows are sent singly."""
        capture = self.desk.engine.capture(address.picture)
        picked = self._picked(event, capture, language)
        if picked is None:
            return gr.skip()
        chosen = (picked.block, picked.head, picked.query, picked.asked)
        return {self.canvas: self.data(capture, address, language, *chosen)}

    def _picked(self, event: gr.EventData, capture: Capture, language: Language) -> Selection | None:
        block = event._data.get("block")
        return Selection.read(event._data, frame_data(capture, block, language)) if is_block(block, capture) else None

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
        data.next_room, data.walks = "flow", capture.depth > 1
        data.python = self.code_of(address, capture, data, head, query)
        return data.model_copy(update=told("attention_map", language))

    def code_of(self, address: Address, capture: Capture, data: CanvasData, head: str, query: Query) -> str:
        """The lines of Python that give the map on the canvas, which may have been asked for another head or query."""
        head = head_of(head, data.heads) or "mean"
        return self.desk.python_lines(
            address,
            "attention_map",
            block=data.block,
            head=int(head) if head.isdigit() else head,
            query=shown_query(capture, data, query),
        )


def is_block(block: object, capture: Capture) -> bool:
    """Whether something that a browser sent is a block of a capture."""
    return isinstance(block, int) and 0 <= block < capture.depth


def told(view: str, language: Language) -> dict[str, str]:
    """When a view's picture misleads, and its source, as fields of `CanvasData`."""
    from vitexplorer.views import VIEWS

    record = VIEWS[view]
    source = {"paper": record.paper.citation, "paper_url": record.paper.url} if record.paper else {}
    return {"misleads": record.misleads.in_(language), **source}


def carried(capture: Capture, query: Query, before: int, after: int) -> Query:
    """A query of one block in another: a patch is the one at its place, in the middle of what the image shows of it."""
    if isinstance(query, str):
        return query
    grid, other = capture.grid(before), capture.grid(after)
    ends = zip(query, capture.input.pixels.shape[:2], (other.rows, other.cols), strict=False)
    side = grid.patch_size
    row, col = (
        min(most - 1, int((at * side + min(end, (at + 1) * side)) / 2 / other.patch_size)) for at, end, most in ends
    )
    return row, col


def default_query(capture: Capture, block: int) -> Query:
    """The class token where it looks in a block, otherwise the mean over patches."""
    return QueryControl().default_after(capture, {"block": block})


def shown_query(capture: Capture, data: CanvasData, query: Query) -> Query:
    """What the canvas shows where a query is asked for: that of the block's default where it is none of the block's."""
    known = query_of(query_text(query), data)
    return query if known is not None and looks(query, data) else default_query(capture, data.block)


def on_grids(queries: PatchGrid, keys: PatchGrid) -> dict[str, Any]:
    """Where queries and keys lie, as fields of `CanvasData`."""
    lies = [{"rows": grid.rows, "cols": grid.cols, "cell": grid.patch_size} for grid in (queries, keys)]
    return {**lies[0], "keys": KeyGrid(**lies[1]) if lies[0] != lies[1] else None}


def frame_data(capture: Capture, block: int, language: Language) -> CanvasData:
    """All that the canvas shows of a block but its attention."""
    from vitexplorer.figures.identity import facts_of, run_of

    site, looking, provenance = capture.site(block), capture.query_tokens(block), capture.provenance
    silent = [name for name in capture.prefix_tokens if name not in looking]
    if not (capture.query_positions(block) >= 0).any():
        silent.append("patches")
    return CanvasData(
        image=kept_file(capture, "image", lambda: image_file(capture.input.pixels)),
        **on_grids(capture.grid(block), capture.key_grid(block)),
        silent=silent,
        prefix=list(capture.prefix_tokens),
        prefix_labels=[prefix_text(name).in_(language) for name in capture.prefix_tokens],
        model=provenance.model,
        weights=provenance.weights_text.in_(language),
        formula=site.formula,
        notes=[note.in_(language) for note in site.notes],
        warning=word("random_on_picture", language) if provenance.is_random else "",
        block=block,
        depth=capture.depth,
        heads=capture.num_heads(block),
        saved_as=["attention_map", provenance.model, run_of(provenance), f"block{block}"],
        saved_facts=facts_of("attention_map", provenance, {"block": block}, language),
        link="attention",
        words=canvas_words(language),
    )


def block_data(capture: Capture, block: int, language: Language, query: Query | None = None) -> CanvasData:
    """A block for the canvas, with its neighbours where they are small; of one that is too large to send one row."""
    data = frame_data(capture, block, language)
    if not fits(capture, block):
        data.attention = row_file(capture, block, shown_query(capture, data, query or default_query(capture, block)))
        return data
    data.attention = block_file(capture, block)
    near = {side: other for side, other in (("before", block - 1), ("after", block + 1)) if 0 <= other < capture.depth}
    for side, other in near.items():
        if size(capture, other) <= FETCHED_AHEAD:
            setattr(data, side, block_file(capture, other))
    return data


def size(capture: Capture, block: int) -> int:
    """Bytes of a block's attention on its way to the browser."""
    windows, keys = capture.positions(block).shape
    return packed_bytes(windows, capture.num_heads(block), capture.query_positions(block).shape[1], keys)


def fits(capture: Capture, block: int) -> bool:
    """Whether a block's attention may be sent in one piece."""
    return size(capture, block) <= settings().payload_megabytes * 1e6


def block_file(capture: Capture, block: int) -> FileData:
    """All heads and queries of a block."""

    def make() -> FileData:
        weights = capture.call(block).weights().cpu().numpy()
        return attention_file(weights, capture.positions(block), capture.query_positions(block))

    return kept_file(capture, block, make)


def row_file(capture: Capture, block: int, query: Query) -> FileData:
    """All heads of one query of a block, as a row over the whole grid of the keys."""
    on_patches, on_prefix, _ = (part.cpu().numpy() for part in capture.attention_from(query, block))
    row = np.concatenate([on_prefix, on_patches], axis=1)[None, :, None]
    names = capture.prefix_tokens
    prefix = [-1 - names.index(name) for name in capture.key_tokens(block)]
    keys = np.concatenate([prefix, np.arange(capture.key_grid(block).num_patches)]).astype(int)
    if query == "mean":
        code = MEAN
    else:
        code = -1 - names.index(query) if isinstance(query, str) else query[0] * capture.grid(block).cols + query[1]
    return attention_file(row, keys[None], np.array([[code]]))
