"""The Flow room: attention multiplied through all blocks, from any token, on the same canvas."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gradio as gr
import numpy as np
from gradio.blocks import Block
from gradio.data_classes import FileData

from vitexplorer.types import Query
from vitexplorer.ui.address import Address
from vitexplorer.ui.canvas import MEAN, AttentionCanvas, CanvasData, Selection, attention_file
from vitexplorer.ui.canvas.canvas import query_text
from vitexplorer.ui.desk import QUICK, Desk, Updates
from vitexplorer.ui.engine import Explored
from vitexplorer.ui.language import word
from vitexplorer.ui.rooms.attention import default_query, frame_data, on_grids
from vitexplorer.ui.rooms.own_picture import OwnPicture
from vitexplorer.ui.rooms.room import Room, about
from vitexplorer.ui.rooms.room_figures import RoomFigures
from vitexplorer.ui.words import UI_WORDS
from vitexplorer.words import Language

if TYPE_CHECKING:
    from vitexplorer.capture import Capture

MOST_QUERIES = 1100
"""tokens up to which the rollout of every one of them is computed at once, so that it can be hovered"""


class FlowRoom(Room):
    """From which patches did this token gather?"""

    key = "flow"

    def __init__(self, desk: Desk):
        """Args: desk: what the rooms share."""
        super().__init__(desk)
        self.own = OwnPicture(self.key, "attention_rollout")

    def build(self) -> list[Block]:
        """The rollout's controls and canvas, then the words about it."""
        t, state = self.desk.t, [self.desk.address, self.desk.language]
        with self.own.build():
            with gr.Row(elem_classes=["vx-row"]):
                fusions = [(t(f"fusion_{how}"), how) for how in ("mean", "max", "min")]
                self.fusion = gr.Radio(fusions, value="mean", label=t("fusion"))
                self.discard = gr.Slider(0, 0.98, 0, step=0.02, label=t("discard"))
                self.start = gr.Slider(0, 11, 0, step=1, label=t("start_block"))
            self.canvas = AttentionCanvas(elem_id="vx-flow-canvas")
            self.words = gr.Markdown(elem_classes=["vx-note", "vx-about"])
            with gr.Accordion(t("python_lines"), open=False):
                self.code = gr.Code(language="python", show_label=False, interactive=False)
        self.panel = RoomFigures(self.desk, self.key, own=("attention_rollout",))
        self.panel.build()
        self.picked = gr.State(None)  # the query that the visitor chose, for the lines of Python
        controls, shown = [self.fusion, self.discard, self.start], [self.canvas, self.code]
        for control in controls:
            control.input(self.show, [*controls, self.picked, *state], shown, trigger_mode="always_last", **QUICK)
        self.canvas.patch_select(
            self.select, [*controls, *state], [*shown, self.picked], trigger_mode="always_last", **QUICK
        )
        return [*self.own.components, *controls, self.canvas, self.words, self.code, self.picked]

    def fill(self, explored: Explored, address: Address, language: Language) -> Updates:
        """The whole network, heads fused by their mean, nothing discarded."""
        capture = explored.capture
        own, query = self.own.fill(capture, language), default_query(capture, capture.depth - 1)
        if self.own.is_refused(capture):
            return own
        data = rollout_data(capture, "mean", 0.0, 0, language)
        data.query = query_text(query)
        return own | {
            self.fusion: "mean",
            self.discard: 0,
            self.start: gr.Slider(maximum=capture.depth - 1, value=0),
            self.canvas: data,
            self.words: about("attention_rollout", language),
            self.code: self.desk.python_lines(address, "attention_rollout", query=query),
            self.picked: None,
        }

    def show(
        self, fusion: str, discard: float, start: float, picked: Query | None, address: Address, language: Language
    ) -> Updates:
        """The rollout under other settings, from the same query."""
        capture = self.desk.engine.capture(address.picture)
        first = max(0, min(int(start), capture.depth - 1))
        data = rollout_data(capture, fusion, discard, first, language)
        query = picked or default_query(capture, capture.depth - 1)
        return {self.canvas: data, self.code: code_of(self.desk, address, query, fusion, discard, first)}

    def select(
        self, event: gr.EventData, fusion: str, discard: float, start: float, address: Address, language: Language
    ) -> Updates:
        """A query was picked: the lines of Python follow, and so does the map where rows are sent singly."""
        capture = self.desk.engine.capture(address.picture)
        first = max(0, min(int(start), capture.depth - 1))
        frame = rollout_frame(capture, fusion, discard, first, language)
        picked = Selection.read(event._data, frame)
        if picked is None:
            return gr.skip()
        code = code_of(self.desk, address, picked.query, fusion, discard, first)
        updates: Updates = {self.code: code, self.picked: picked.query}
        if num_tokens(capture) > MOST_QUERIES:
            frame.attention = rollout_file(capture, [picked.query], fusion, discard, first)
            updates[self.canvas] = frame
        return updates


def code_of(desk: Desk, address: Address, query: Query, fusion: str, discard: float, start: int) -> str:
    """The lines of Python that give the map on the canvas."""
    return desk.python_lines(
        address, "attention_rollout", query=query, head_fusion=fusion, discard_ratio=discard, start_block=start
    )


def num_tokens(capture: Capture) -> int:
    """Tokens of the last block."""
    return len(capture.prefix_tokens) + capture.grid(capture.depth - 1).num_patches


def rollout_frame(capture: Capture, fusion: str, discard: float, start: int, language: Language) -> CanvasData:
    """All that the canvas shows of a rollout but its numbers: from tokens of the last block to those of the first."""
    from vitexplorer.figures.identity import facts_of

    data = frame_data(capture, start, language)
    extra = {name: word(f"rollout_{name}", language) for name in ("region", "unit", "goes_to", "block")}
    data.words |= {**extra, "fused_one": word("rollout_fused", language, how=UI_WORDS[f"fusion_{fusion}"])}
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
            "notes": [word("rollout_swin", language)] if windowed else [],
        }
    )


def rollout_data(capture: Capture, fusion: str, discard: float, start: int, language: Language) -> CanvasData:
    """The rollout of every token, or of one where there are too many."""
    data = rollout_frame(capture, fusion, discard, start, language)
    too_many = num_tokens(capture) > MOST_QUERIES
    queries = [default_query(capture, capture.depth - 1)] if too_many else None
    data.attention = rollout_file(capture, queries, fusion, discard, start)
    return data


def rollout_file(capture: Capture, queries: list[Query] | None, fusion: str, discard: float, start: int) -> FileData:
    """Rows of the rollout for the canvas: those of `queries`, or of every token."""
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
