"""Attention canvas: where does each token look, in every head of a block? It answers while the mouse moves.

The attention of one block is sent once, as a file (`payload.py`). Hovering, heads, fusion, colours, thresholds and
saving are handled in the browser by the JavaScript modules beside this file. Everything else is in `value`, also what
stands beside the picture: settings that Python answers, when the picture misleads, Python code, the next room.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from vitexplorer.core.types import Query
from vitexplorer.ui.controls.field import Field
from vitexplorer.ui.kit.served_files import FileAddress, ServedFile
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.shell.frame import FrameData

FILLINGS = itertools.count(1)
"""Numbers of the values that reset a canvas's choices, see `CanvasData.filled`"""


class KeyGrid(BaseModel):
    """Patch grid of the keys, on which the map is drawn, where it differs from the grid of the queries."""

    rows: int = 0
    cols: int = 0
    cell: int = 0
    """Side of a patch in pixels of the image"""


class BlockFacts(BaseModel):
    """Facts of one block."""

    block: int = 0
    rows: int = 0
    cols: int = 0
    """Columns of the patch grid of the block's queries; the mouse points at this grid"""
    cell: int = 0
    """Side of a patch in pixels of the image; 0 where the patches fill it"""
    keys: KeyGrid | None = None
    """Patch grid of the keys; None where it is the grid of the queries"""
    silent: list[str] = []
    """Tokens that are no queries in this block: prefix tokens by name, and the word patches"""
    heads: int = 1
    formula: str = ""
    notes: list[str] = []
    """Notes for reading this block's maps, in the visitor's language"""
    attention: FileAddress | None = None
    """File with all queries; None where one query is sent at a time. For the block on the stage: the file that is
    drawn; None shows the placeholder"""
    ahead: bool = False
    """True where `attention` is small enough to be fetched ahead of time"""


class Strip(BaseModel):
    """Rows of all heads of all blocks for one query."""

    rows: ServedFile
    """`pack_attention` of one row of each block, one after the other"""
    blocks: list[BlockFacts]


class CanvasData(BlockFacts, FrameData):
    """Data of the canvas. A choice that is None leaves what the visitor chose."""

    asked: int = 0
    """Number of the event that this answers, counted by the browser; 0 where it answers none. In an answer, head and
    query apply only to a canvas that is new on the page; an existing canvas keeps its own"""
    filled: int = 0
    """Number from `FILLINGS` of a value that resets the choices, also where the map is the same; 0 in an answer.
    Gradio sends an event's last value again when the event ends, and by then a person may have chosen something else:
    the canvas ignores a number that it has seen"""
    image: ServedFile | None = None
    """Pixels that the model saw, from `served_files.image_file`"""
    strip: Strip | None = None
    prefix: list[str] = []
    """Names of the prefix tokens in the order of the sequence: cls, dist, reg1, ..."""
    prefix_labels: list[str] = []
    """Names of the prefix tokens in the visitor's language"""
    model: str = ""
    weights: str = ""
    """Description of the weights for captions, in the visitor's language"""
    warning: str = ""
    """Warning written on the picture, for example of random weights"""
    run: str = ""
    """Name of the run where two canvases stand side by side; such a canvas has fewer texts and controls"""
    controls: list[Field] = []
    """Settings that Python answers"""
    walks: bool = False
    """True where another block can be chosen"""
    walks_down: bool = False
    """True where the run through the blocks goes from the last to the first"""
    depth: int = 1
    """Number of blocks of the network"""
    head: str | None = None
    """Head number, or mean, max or min"""
    query: str | None = None
    """Query as in the page's address: cls, dist, mean or row,col"""
    mode: str | None = None
    colormap: str | None = None
    opacity: float | None = None
    """Opacity of the map, 0-1"""
    scale: str | None = None
    """Upper end of the colour scale: the maximum of the map, of all heads for this query, or of the whole block"""
    keep_mass: float | None = None
    """Share of the mass on patches, 0-1, that the shown patches hold (1: all patches)"""
    smooth: bool | None = None
    sharpen: int | None = None
    """Number of passes that a sharpened map is the mean of; 1 shows the map of the patches"""
    sharpened: str = ""
    """Address of sharpened maps, without the settings `sharpened_by` and `sharpen`; empty where there are none"""
    sharpened_by: list[str] = []
    """Choices of the browser that belong into that address: block, head, query"""
    sharpens_itself: bool = False
    """True where the picture, if it is the first one on the page, is sharpened once it rests and the model is idle"""
    welcomes: bool = False
    """True where a first visitor is welcomed on this picture, if it is the first one on the page"""
    saved_as: list[str] = []
    """First parts of the names of saved files: view, model, run and part of the network; head and query follow"""
    saved_facts: dict[str, str] = {}
    """Columns of a saved table that are the same in every row"""
    link: str = ""
    """Group name: canvases with the same link share the hovered query"""


@dataclass(frozen=True)
class Selection:
    """Choice of a visitor, checked: an event may name what the canvas does not show."""

    block: int
    head: str
    """Head number, or mean, max or min"""
    query: Query
    """Chosen token; where it is no query of the block, the canvas shows another with a note"""
    pinned: bool = False
    """True where a patch was clicked, False where the query is the one to which the canvas returns"""
    asked: int = 0
    """Number of the event"""

    @classmethod
    def read(cls, event: Mapping[str, Any], data: CanvasData) -> Selection | None:
        """Read the fields of an event; None where they name nothing that `data` shows."""
        head = head_of(event.get("head"), data.heads)
        query = query_of(event.get("query"), data)
        block = event.get("block")
        if head is None or query is None or block is None or not 0 <= block < data.depth:
            return None
        return cls(block, head, query, event.get("pinned", False), event.get("asked", 0))


class AttentionCanvas(Widget):
    """Component of the canvas.

    Events: `patch_select` (block, head, query, pinned) when a patch is pinned or the head changes; `choose_block` with
    the same fields and `to`, another block; `adjust` with the same fields as `patch_select`. All have `settings`
    (name -> text) where the canvas has controls, and `asked`, which the answer repeats. In the page the root element
    `.vx-canvas` sends bubbling CustomEvents `vx-select` and `vx-room`, and has `root.vx`, see `canvas.js`.
    """

    data_model = CanvasData
    sends = ("patch_select", "choose_block", "adjust")


def query_of(text: str | None, data: CanvasData) -> Query | None:
    """Parse a query (cls, dist, mean, or row,col); None where the data have no such token."""
    if text == "mean" or (text in ("cls", "dist") and text in data.prefix):
        return text
    match = re.fullmatch(r"(\d{1,4}),(\d{1,4})", text or "")
    if not match:
        return None
    row, col = int(match[1]), int(match[2])
    return (row, col) if row < data.rows and col < data.cols else None


def looks(query: Query, silent: list[str]) -> bool:
    """Return True where a token is a query of a block; `silent` names the tokens that are none."""
    return ("patches" if query == "mean" or not isinstance(query, str) else query) not in silent


def head_of(text: int | str | None, heads: int) -> str | None:
    """Parse a head or fusion; None where a block of `heads` heads has none of that name."""
    if text in ("mean", "max", "min"):
        return text
    if re.fullmatch(r"\d{1,4}", str(text)) and int(text) < heads:
        return str(int(text))
    return None
