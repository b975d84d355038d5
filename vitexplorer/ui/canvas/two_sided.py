"""Two linked canvases for two captures, used by the rooms What if and Compare.

Pointing at one picture points at the same place in the other, where each canvas finds its own patch. Networks of equal
depth show the same block, others the blocks at the same share of the depth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import gradio as gr

from vitexplorer.controls import written_value
from vitexplorer.core.text import Language
from vitexplorer.ui.canvas.block_data import block_data, default_query, is_block
from vitexplorer.ui.canvas.canvas import FILLINGS, AttentionCanvas, CanvasData, head_of, query_of
from vitexplorer.ui.canvas.files import block_address
from vitexplorer.ui.gradio_adapter.events import fields_of, sent
from vitexplorer.ui.gradio_adapter.types import Block
from vitexplorer.ui.kit.language import word
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import LATEST, Updates

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture

Blocks = tuple[int, int]
"""Blocks on the stage, left and right"""


@dataclass(frozen=True)
class Side:
    """One of the two captures."""

    capture: Capture
    name: str
    """Title over its picture"""
    language: Language
    """Language of the texts on it"""


class TwoSided:
    """Two canvases with one mouse position, query and head; a block that is chosen on one moves the other."""

    def __init__(self, link: str, ids: tuple[str, str]):
        """Name the group and, left and right, the ids of the elements."""
        self._link = link
        self._ids = ids

    def build(self, answer: Callable[..., Updates], inputs: Sequence[Block], outputs: Sequence[Block]) -> None:
        """Lay out the canvases; `answer` handles another block or query, see `move`, and writes the canvases too."""
        with gr.Column(elem_classes=["stage", "vx-two-sided"]):
            self.left, self.right = (AttentionCanvas(elem_id=name) for name in self._ids)
        events = [sent(canvas, event) for canvas in self.canvases for event in ("choose_block", "patch_select")]
        gr.on(events, answer, [*inputs], [*outputs, *self.canvases], **LATEST)

    @property
    def canvases(self) -> list[Block]:
        """The left and the right canvas."""
        return [self.left, self.right]

    def show(self, sides: tuple[Side, Side], blocks: Blocks) -> Updates:
        """Show a block on each side; head and query stay what the visitor chose in the browser."""
        return dict(zip(self.canvases, self._data(sides, blocks), strict=True))

    def open(self, sides: tuple[Side, Side], address: Address) -> tuple[Blocks, Updates]:
        """Show both sides as the address names them, as far as these models can; by default the left's last block."""
        from vitexplorer.quantities.places import matched, placed

        left, right = (side.capture for side in sides)
        left_block = min(int(address.block or left.depth - 1), left.depth - 1)
        if address.other_block and left.depth != right.depth:
            right_block = min(int(address.other_block), right.depth - 1)
        else:
            right_block = matched(left_block, left.depth, right.depth)
        blocks = left_block, right_block
        left_data, right_data = self._data(sides, blocks)
        query = query_of(address.query, left_data)
        query = default_query(left, left_block) if query is None else query
        for data, place in ((left_data, (left, left_block)), (right_data, (right, right_block))):
            data.query = written_value(placed(query, (left, left_block), place))
            data.head = head_of(address.head, data.heads)
            data.filled = next(FILLINGS)
        return blocks, dict(zip(self.canvases, (left_data, right_data), strict=True))

    def move(self, event: gr.EventData, sides: tuple[Side, Side], blocks: Blocks) -> tuple[Blocks, Updates] | None:
        """Show another block of the canvas that fired the event, and its match beside it; None changes nothing.

        A new query is answered where the attention of a block is too large to be sent in one piece.
        """
        from vitexplorer.quantities.places import matched

        index = int(event.target is self.right)  # 0 left, 1 right
        captures = [side.capture for side in sides]
        if "to" not in fields_of(event):
            return self._rows(event, index, sides, blocks)
        block = fields_of(event)["to"]
        if not is_block(block, captures[index]):
            return None
        other = matched(block, captures[index].depth, captures[1 - index].depth)
        blocks = (other, block) if index else (block, other)
        return blocks, self.show(sides, blocks)

    def _rows(
        self, event: gr.EventData, index: int, sides: tuple[Side, Side], blocks: Blocks
    ) -> tuple[Blocks, Updates] | None:
        from vitexplorer.quantities.places import placed

        places = [(side.capture, block) for side, block in zip(sides, blocks, strict=True)]
        if all(block_address(*place) is not None for place in places):
            return None
        both_data = self._data(sides, blocks)
        query = query_of(fields_of(event).get("query"), both_data[index])
        if query is None or not is_block(fields_of(event).get("block"), sides[index].capture):
            return None
        for data, side, place in zip(both_data, sides, places, strict=True):
            if block_address(*place) is None:
                side_query = placed(query, places[index], place)
                data.attention = block_data(side.capture, data.block, side.language, side_query).attention
        return blocks, dict(zip(self.canvases, both_data, strict=True))

    def _data(self, sides: tuple[Side, Side], blocks: Blocks) -> tuple[CanvasData, CanvasData]:
        left, right = (self._canvas(side, block) for side, block in zip(sides, blocks, strict=True))
        return left, right

    def _canvas(self, side: Side, block: int) -> CanvasData:
        language = side.language
        data = block_data(side.capture, block, language)
        data.link = self._link
        data.run = side.name
        data.walks = side.capture.depth > 1
        data.query = None
        if change := side.capture.change:
            separator = "；" if language == "zh" else "; "
            data.weights += f" · {separator.join(text.in_(language) for text in change.texts)}"
            data.warning = " · ".join(filter(None, [word("changed_on_picture", language), data.warning]))
        return data
