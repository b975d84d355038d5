"""Control for any heads of any blocks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from vitexplorer.controls.block import no_such_block
from vitexplorer.controls.control import Control
from vitexplorer.controls.head import no_such_head
from vitexplorer.controls.spec import Fields
from vitexplorer.core.capture_protocol import CaptureProtocol
from vitexplorer.core.text import SettingError, Text
from vitexplorer.core.types import Result

Head = tuple[int, int]
"""(block, head)"""

WORDS = {
    "block": Text("Block {block}", "块 {block}"),
    "head": Text("block {block}, head {head}", "块 {block}，头 {head}"),
    "help": Text(
        "Click a head to switch it off or on; click the number of a block for all of its heads.",
        "点击某个头将其关闭或打开；点击块的编号可切换整块。",
    ),
}


@dataclass(frozen=True)
class HeadsControl(Control):
    """Any heads of any blocks, as (block, head) or as text: 5.0+5.2, or 5.* for a whole block."""

    name: str = "heads"
    label: Text = Text("Heads (block.head)", "注意力头（块.头）")

    kind: ClassVar[str] = "heads"
    words: ClassVar[Mapping[str, Text]] = WORDS

    def default(self, capture: CaptureProtocol) -> tuple[Head, ...]:
        """Return the first head of the last block."""
        return ((capture.depth - 1, 0),)

    def parse(self, value: Any, capture: CaptureProtocol, settings: Mapping[str, Any]) -> tuple[Head, ...]:
        """Return existing heads, each once, in order. Raises SettingError for any other."""
        pairs = [part.split(".") for part in value.split("+") if part] if isinstance(value, str) else value
        return tuple(sorted({head for pair in pairs for head in self._heads(pair, capture)}))

    def _heads(self, pair: Any, capture: CaptureProtocol) -> Iterable[Head]:
        try:
            block, head = pair
            block, head = int(block), head if head == "*" else int(head)
        except (TypeError, ValueError):
            raise SettingError(
                Text(
                    "A head is block.head, such as 5.0, or 5.* for a whole block, not {value}.",
                    "注意力头应写作“块.头”，如 5.0，或用 5.* 表示整个块，而不是 {value}。",
                ).format(value=repr(pair))
            ) from None
        if not 0 <= block < capture.depth:
            raise no_such_block(block, capture.depth)
        heads = capture.num_heads(block)
        if head == "*":
            return ((block, each) for each in range(heads))
        if not 0 <= head < heads:
            raise no_such_head(head, block, heads)
        return ((block, head),)

    def details(self, capture: CaptureProtocol | None, settings: Mapping[str, Any], result: Result | None) -> Fields:
        """Return the number of heads of every block."""
        if capture is None:
            return {}
        return {"more": {"heads": [capture.num_heads(block) for block in range(capture.depth)]}}
