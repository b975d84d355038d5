"""Two captures under one mouse: what What if and Compare show, each on a canvas of its own.

The place that is pointed at is the same in both pictures, and each canvas finds its own patch there. Where the two have
as many blocks they show the same one, otherwise those at the same share of the depth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import gradio as gr

from vitexplorer.core.text import Language
from vitexplorer.ui.canvas.block_data import block_data, default_query, is_block
from vitexplorer.ui.canvas.canvas import AttentionCanvas, CanvasData, head_of, query_of, query_text
from vitexplorer.ui.canvas.files import block_address
from vitexplorer.ui.gradio_adapter.events import fields_of, sent
from vitexplorer.ui.gradio_adapter.types import Block
from vitexplorer.ui.kit.language import word
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import QUICK, Updates

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture

Blocks = tuple[int, int]
"""that are shown, left and right"""


@dataclass(frozen=True)
class Side:
    """One of the two."""

    capture: Capture
    name: str
    """what stands over its picture"""


class TwoSided:
    """Two canvases whose mouse, query and head are one; a block that is chosen on one moves the other."""

    def __init__(self, link: str, ids: tuple[str, str]):
        """Args: link: what both canvases are called by; ids: of the elements, left and right."""
        self._link, self._ids = link, ids

    def build(self, answer: Callable[..., Updates], inputs: Sequence[Block], outputs: Sequence[Block]) -> None:
        """Lay the canvases out.

        Args:
            answer: what another block or query is asked of, with the event and `inputs`; see `move`.
            inputs: what it takes.
            outputs: what it writes to beside the canvases.
        """
        with gr.Row(elem_classes=["stage", "vx-two-sided"]):
            self.left, self.right = (AttentionCanvas(elem_id=name) for name in self._ids)
        asked = [sent(canvas, event) for canvas in self.canvases for event in ("choose_block", "patch_select")]
        gr.on(asked, answer, [*inputs], [*outputs, *self.canvases], trigger_mode="always_last", **QUICK)

    @property
    def canvases(self) -> list[Block]:
        """Left and right."""
        return [self.left, self.right]

    def show(self, sides: tuple[Side, Side], blocks: Blocks, language: Language) -> Updates:
        """A block of each; head and query stay what the visitor chose in the browser."""
        return dict(zip(self.canvases, self._data(sides, blocks, language), strict=True))

    def open(self, sides: tuple[Side, Side], address: Address, language: Language) -> tuple[Blocks, Updates]:
        """Both as the address has them, as far as these models can; the last block of the left where it has none."""
        from vitexplorer.quantities.places import matched, placed

        (left, right), depths = (side.capture for side in sides), [side.capture.depth for side in sides]
        block = min(int(address.both_block or depths[0] - 1), depths[0] - 1)
        named = address.other_block and left.depth != right.depth
        other = min(int(address.other_block), depths[1] - 1) if named else matched(block, *depths)
        one, two = self._data(sides, (block, other), language)
        query = query_of(address.both_query, one)
        query = default_query(left, block) if query is None else query
        for data, there in ((one, (left, block)), (two, (right, other))):
            data.query = query_text(placed(query, (left, block), there))
            data.head = head_of(address.both_head, data.heads)
            data.opened = address.opened
        return (block, other), dict(zip(self.canvases, (one, two), strict=True))

    def move(
        self, event: gr.EventData, sides: tuple[Side, Side], blocks: Blocks, language: Language
    ) -> tuple[Blocks, Updates] | None:
        """Another block of the canvas that was touched, and the one beside it; None where nothing is to be sent.

        A query is answered where the attention of a block is too large to be sent in one piece.
        """
        from vitexplorer.quantities.places import matched

        at = int(event.target is self.right)
        captures = [side.capture for side in sides]
        if "to" not in fields_of(event):
            return self._rows(event, at, sides, blocks, language)
        block = fields_of(event)["to"]
        if not is_block(block, captures[at]):
            return None
        other = matched(block, captures[at].depth, captures[1 - at].depth)
        blocks = (other, block) if at else (block, other)
        return blocks, self.show(sides, blocks, language)

    def _rows(
        self, event: gr.EventData, at: int, sides: tuple[Side, Side], blocks: Blocks, language: Language
    ) -> tuple[Blocks, Updates] | None:
        from vitexplorer.quantities.places import placed

        places = [(side.capture, block) for side, block in zip(sides, blocks, strict=True)]
        if all(block_address(*place) is not None for place in places):
            return None
        shown = self._data(sides, blocks, language)
        query = query_of(fields_of(event).get("query"), shown[at])
        if query is None or not is_block(fields_of(event).get("block"), sides[at].capture):
            return None
        for data, side, place in zip(shown, sides, places, strict=True):
            if block_address(*place) is None:
                data.attention = block_data(
                    side.capture, data.block, language, placed(query, places[at], place)
                ).attention
        return blocks, dict(zip(self.canvases, shown, strict=True))

    def _data(self, sides: tuple[Side, Side], blocks: Blocks, language: Language) -> tuple[CanvasData, CanvasData]:
        left, right = (self._canvas(*shown, language) for shown in zip(sides, blocks, strict=True))
        return left, right

    def _canvas(self, side: Side, block: int, language: Language) -> CanvasData:
        data = block_data(side.capture, block, language)
        data.link, data.run, data.walks, data.query = self._link, side.name, side.capture.depth > 1, None
        if change := side.capture.change:
            said = "；" if language == "zh" else "; "
            data.weights += f" · {said.join(text.in_(language) for text in change.texts)}"
            data.warning = " · ".join(filter(None, [word("changed_on_picture", language), data.warning]))
        return data
