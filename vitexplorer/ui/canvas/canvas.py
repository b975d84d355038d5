"""Where does each token look, in every head of a block? A picture that answers while the mouse moves.

One block's attention travels once, as a file (`payload.py`); hovering, heads, fusion, colours, thresholds and saving
are answered in the browser by the modules beside this file. Everything else travels in `value`, also what stands beside
the picture: settings that Python answers, when the picture misleads, the lines of Python, the next room.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from vitexplorer.core.types import Query
from vitexplorer.ui.controls import Field
from vitexplorer.ui.kit.served_files import FileAddress, ServedFile
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.shell.frame import FrameData


class KeyGrid(BaseModel):
    """The patch grid of the keys, which the map is drawn on, where it is not that of the queries."""

    rows: int = 0
    cols: int = 0
    cell: int = 0
    """side of a patch in pixels of the image"""


class BlockFacts(BaseModel):
    """What is so of one block."""

    block: int = 0
    rows: int = 0
    cols: int = 0
    """the patch grid of the block's queries, on which the mouse is read"""
    cell: int = 0
    """side of a patch in pixels of the image; 0 where the patches fill it"""
    keys: KeyGrid | None = None
    """None where keys lie where queries lie"""
    silent: list[str] = []
    """what does not look in this block: prefix tokens by name, and the word patches"""
    heads: int = 1
    formula: str = ""
    notes: list[str] = []
    """what a person must know to read this block's maps, in the visitor's language"""
    attention: FileAddress | None = None
    """of all its queries; None where one query is sent at a time. Of what is on the stage: what is there, None shows
    the placeholder"""
    ahead: bool = False
    """whether that is small enough to be fetched before it is asked for"""


class Strip(BaseModel):
    """All heads of all blocks for one query."""

    rows: ServedFile
    """`pack_attention` of one row of each block, one after the other"""
    blocks: list[BlockFacts]


class CanvasData(BlockFacts, FrameData):
    """Data of the canvas. A choice that is None leaves what the visitor chose, which so survives an update."""

    asked: int = 0
    """number of the event that this answers, as the browser counts them: then its head and query are where a canvas
    that is put on the page anew begins, and one that is there keeps its own; 0 where nobody asked"""
    opened: int = 0
    """how many links were opened before this one: with the same map, too, another link begins anew"""
    image: ServedFile | None = None
    """from `ui.files.image_file`: the pixels the model saw"""
    strip: Strip | None = None
    prefix: list[str] = []
    """prefix tokens by name, as in the sequence: cls, dist, reg1, ..."""
    prefix_labels: list[str] = []
    """the same in the visitor's language"""
    model: str = ""
    weights: str = ""
    """for captions, in the visitor's language"""
    warning: str = ""
    """a sentence that is written on the picture: random weights"""
    run: str = ""
    """which of two runs this is, where two canvases stand side by side; such a canvas says and offers less"""
    controls: list[Field] = []
    """settings that Python answers"""
    walks: bool = False
    """whether another block can be chosen"""
    depth: int = 1
    """blocks of the network"""
    head: str | None = None
    """mean, max, min or a number"""
    query: str | None = None
    """cls, dist, mean or row,col: as in the page's address"""
    mode: str | None = None
    colormap: str | None = None
    opacity: float | None = None
    """0-1"""
    scale: str | None = None
    """where the colours end: the map's own maximum, that of all heads for this query, or that of the whole block"""
    keep_mass: float | None = None
    """0-1: show the patches that hold this share of the mass on patches (1: all)"""
    smooth: bool | None = None
    saved_as: list[str] = []
    """what the names of saved files begin with: view, model, run and the part of the network; head and query follow"""
    saved_facts: dict[str, str] = {}
    """columns of a saved table that are the same in every row"""
    link: str = ""
    """canvases with the same link share the hovered query"""


@dataclass(frozen=True)
class Selection:
    """Checked choice of a visitor: an event may name what the canvas does not show."""

    block: int
    head: str
    """mean, max, min or a number"""
    query: Query
    """which need not look in the block: then the canvas says so and shows another"""
    pinned: bool
    """False where the query is the one the canvas returns to, True where a patch was clicked"""
    asked: int = 0
    """number of the event"""

    @classmethod
    def read(cls, event: Mapping[str, Any], data: CanvasData) -> Selection | None:
        """From the fields of an event, within what `data` shows; None where they make no sense."""
        head = head_of(event.get("head"), data.heads)
        query = query_of(event.get("query"), data)
        block = event.get("block")
        if head is None or query is None or block is None or not 0 <= block < data.depth:
            return None
        return cls(block, head, query, event.get("pinned", False), event.get("asked", 0))


class AttentionCanvas(Widget):
    """The canvas. Fires `patch_select` (block, head, query, pinned) when a patch is pinned or the head changes.

    Also `choose_block` with the same and `to`, another block; and `adjust` with the same. All have `settings` (name ->
    text) where the canvas has controls, and `asked`, which the answer repeats. In the page: the root element
    `.vx-canvas` sends bubbling CustomEvents `vx-select` and `vx-room`, and has `root.vx`, see `canvas.js`.
    """

    data_model = CanvasData
    stem = "canvas"
    sends = ("patch_select", "choose_block", "adjust")


def query_of(text: str | None, data: CanvasData) -> Query | None:
    """A query from its text (cls, dist, mean, or row,col); None where the data have no such token."""
    if text == "mean" or (text in ("cls", "dist") and text in data.prefix):
        return text
    found = re.fullmatch(r"(\d{1,4}),(\d{1,4})", text or "")
    if not found:
        return None
    row, col = int(found[1]), int(found[2])
    return (row, col) if row < data.rows and col < data.cols else None


def looks(query: Query, silent: list[str]) -> bool:
    """Return whether a token is among the queries of a block, where `silent` names those that are not."""
    return ("patches" if query == "mean" or not isinstance(query, str) else query) not in silent


def query_text(query: Query) -> str:
    """The text of a query that `CanvasData.query` and the page's address hold."""
    return query if isinstance(query, str) else f"{query[0]},{query[1]}"


def head_of(text: int | str | None, heads: int) -> str | None:
    """A head or fusion from its text; None where a block of so many heads has none."""
    if text in ("mean", "max", "min"):
        return text
    if re.fullmatch(r"\d{1,4}", str(text)) and int(text) < heads:
        return str(int(text))
    return None
