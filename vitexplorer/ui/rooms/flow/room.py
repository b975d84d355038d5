"""The Flow room: attention rollout from any token on the attention canvas, and figures of other views."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import gradio as gr
import numpy as np

from vitexplorer.controls import specs, written_value
from vitexplorer.controls.head import FUSIONS
from vitexplorer.core.text import ExplainedError, Language, Text
from vitexplorer.core.types import Query
from vitexplorer.service.answer_threads import in_thread
from vitexplorer.ui.canvas.block_data import frame_data, on_grids
from vitexplorer.ui.canvas.canvas import AttentionCanvas, CanvasData
from vitexplorer.ui.canvas.files import attention_file, capture_file, sharpened_address
from vitexplorer.ui.canvas.payload import MEAN
from vitexplorer.ui.controls.field import field_of
from vitexplorer.ui.gradio_adapter.events import fields_of
from vitexplorer.ui.gradio_adapter.types import Block
from vitexplorer.ui.kit.served_files import ServedFile
from vitexplorer.ui.panel.room_figures import RoomFigures
from vitexplorer.ui.rooms.flow.words import FLOW_WORDS
from vitexplorer.ui.rooms.room import Room
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import LATEST, QUICK, Listen, Updates
from vitexplorer.ui.shell.room_sign import WHY

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture

CONTROLS = ("query", "head_fusion", "discard_ratio", "start_block")
IN_FORM = ("head_fusion", "discard_ratio")
"""Controls beside the picture; the query is picked on it, the first block with the buttons of the blocks"""
ROLLOUT_WORDS = (
    "region",
    "unit",
    "goes_to",
    "block",
    "blocks",
    "only_block",
    "block_before",
    "block_after",
    "play",
    "loading",
    "question",
    "question_mean",
    "reading",
    "reading_even",
    "reading_elsewhere",
)
"""Keys of canvas texts that differ for a rollout"""
MOST_QUERIES = 1100
"""Most tokens for which the rollout of every token is computed at once, so that the mouse can point at any"""


class FlowRoom(Room):
    """Attention rollout, relevance of each patch for an answer, and which map to trust."""

    key = "flow"
    title = Text("Flow", "信息流")
    invitation = Text("Through all blocks at once", "贯穿所有块")
    icon = "M3 6h3c6 0 6 12 12 12h3 M3 18h3c6 0 6-12 12-12h3"
    group = WHY

    def build(self) -> list[Block]:
        """Build the canvas and the panel of the room's other views."""
        with gr.Column(elem_classes=["vx-views"]):
            self.canvas = AttentionCanvas(elem_id="vx-flow-canvas", elem_classes=["vx-no-strip"])
            self.panel = RoomFigures(self.context, self.key, own=("attention_rollout",))
            self.panel.build()
        self.canvas.patch_select(self.show, self.context.address, self.canvas, **LATEST)
        self.canvas.adjust(self.show, self.context.address, self.canvas, **LATEST)
        self.canvas.choose_block(self.show, self.context.address, self.canvas, **LATEST)
        self.filled = gr.State(None)  # the address that the canvas was filled for
        return []

    def enter_on(self, listen: Listen, active: gr.State) -> None:
        """Compute the rollout only when the room is entered, so that no other room waits for it."""
        listen(self.enter, [active, self.context.address, self.filled], [self.canvas, self.filled], **QUICK)
        super().enter_on(listen, active)

    async def enter(self, active: str, address: Address, filled: Address | None) -> Updates:
        """Show the rollout of the address; by default of all blocks, heads fused by their mean, nothing discarded."""
        from vitexplorer.views import refusal

        if active != self.key or filled == address or address == Address():
            return gr.skip()
        capture = await self.context.engine.capture(address.picture)
        if refusal("attention_rollout", capture):
            return {self.filled: address}
        data = await in_thread(lambda: self.data(capture, address, linked(capture, address)))
        return {self.canvas: data.model_copy(update=address.display), self.filled: address}

    async def show(self, event: gr.EventData, address: Address) -> Updates:
        """Show another query, another first block or other settings."""
        capture = await self.context.engine.capture(address.picture)
        fields = fields_of(event)
        given = fields.get("settings")
        if given is None:
            return gr.skip()
        start = fields.get("to", fields.get("block"))
        try:
            data = await in_thread(
                self.data, capture, address, {**given, "query": fields.get("query"), "start_block": start}
            )
        except ExplainedError:  # the page's controls never send such settings
            return gr.skip()
        data.asked = fields.get("asked", 0)
        return {self.canvas: data}

    def data(self, capture: Capture, address: Address, given: Mapping[str, Any]) -> CanvasData:
        """Return the canvas data under settings given as text; raises what `View.settings` raises."""
        from vitexplorer.views import VIEWS

        record = VIEWS["attention_rollout"]
        settings = record.settings(capture, given)
        data = rollout_data(capture, settings, address.language)
        data.query = written_value(settings["query"])
        data.walks, data.walks_down = capture.depth > 1, True
        chosen = {name: settings[name] for name in CONTROLS[1:]}
        data.sharpened = sharpened_address(capture, "attention_rollout", address.language, **chosen)
        data.sharpened_by = ["query"]
        controls = [spec for spec in specs(record.controls, capture, settings) if spec.name in IN_FORM]
        data.controls = [field_of(spec, address.language) for spec in controls]
        return data.model_copy(update=self.around("attention_rollout", address, **settings))


def linked(capture: Capture, address: Address) -> dict[str, str]:
    """Return the settings of an address; none of them where the rollout does not accept one."""
    from vitexplorer.views import VIEWS

    values = (address.query, address.fusion, address.discard, address.start)
    given = {name: value for name, value in zip(CONTROLS, values, strict=True) if value}
    try:
        VIEWS["attention_rollout"].settings(capture, given)
    except ExplainedError:
        return {}
    return given


def num_tokens(capture: Capture) -> int:
    """Count the tokens of the last block."""
    return len(capture.prefix_tokens) + capture.grid(capture.depth - 1).num_patches


def rollout_frame(capture: Capture, fusion: str, discard: float, start: int, language: Language) -> CanvasData:
    """Return the canvas data of a rollout without its numbers: queries of the last block, keys of block `start`."""
    from vitexplorer.figures.identity import facts_of

    data = frame_data(capture, start, language)
    extra = {name: FLOW_WORDS[name].in_(language) for name in ROLLOUT_WORDS}
    data.words |= {**extra, "fused_one": FLOW_WORDS["fused"].format(how=FUSIONS[fusion]).in_(language)}
    settings = {"head_fusion": fusion, "discard_ratio": discard, "start_block": start}
    windowed = capture.site(capture.depth - 1).windows is not None
    return data.model_copy(
        update={
            **on_grids(capture.grid(capture.depth - 1), capture.grid(start)),
            "heads": 1,
            "saved_as": ["attention_rollout", *data.saved_as[1:3], f"{fusion}-discard{discard:g}-from{start}"],
            "saved_facts": facts_of("attention_rollout", capture.provenance, settings, language),
            "link": "flow",
            "formula": "∏ rownorm(½ fuse(A) + ½ I)",
            "notes": [FLOW_WORDS["swin"].in_(language)] if windowed else [],
        }
    )


def rollout_data(capture: Capture, settings: Mapping[str, Any], language: Language) -> CanvasData:
    """Return the canvas data with the rollout of every token, or of the query alone where there are too many."""
    query, fusion, discard, start = (settings[control] for control in CONTROLS)
    data = rollout_frame(capture, fusion, discard, start, language)
    queries = (query,) if num_tokens(capture) > MOST_QUERIES else None
    data.attention = capture_file(
        capture,
        ("rollout", queries, fusion, discard, start),
        lambda: rollout_file(capture, queries, fusion, discard, start),
    )
    return data


def rollout_file(
    capture: Capture, queries: tuple[Query, ...] | None, fusion: str, discard: float, start: int
) -> ServedFile:
    """Make a file of the rollout's rows: of `queries`, or of every token."""
    import torch

    from vitexplorer.views.attention_rollout import query_shares, rollout

    prefix = -1 - np.arange(len(capture.prefix_tokens))
    tokens = np.concatenate([prefix, np.arange(capture.grid(capture.depth - 1).num_patches)])
    if queries is None:
        shares, codes = torch.eye(len(tokens), device=capture.input.tensor.device), tokens
    else:
        shares = torch.stack([query_shares(capture, query) for query in queries])
        codes = np.array(
            [MEAN if query == "mean" else tokens[capture.token(query, capture.depth - 1)] for query in queries]
        )
    rows = rollout(capture, shares, fusion, discard, start).cpu().numpy()
    keys = np.concatenate([prefix, np.arange(capture.grid(start).num_patches)])
    return attention_file(rows[None, None], keys[None], codes[None])
