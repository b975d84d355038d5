"""Control for a head of a block, or all heads fused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from vitexplorer.controls.block import COUNTED
from vitexplorer.controls.control import Control
from vitexplorer.controls.number import whole_number
from vitexplorer.controls.spec import Fields
from vitexplorer.core.capture_protocol import CaptureProtocol
from vitexplorer.core.registry import unknown_name
from vitexplorer.core.text import SettingError, Text, same
from vitexplorer.core.types import Result

FUSIONS = {"mean": Text("mean", "平均"), "max": Text("maximum", "最大值"), "min": Text("minimum", "最小值")}
"""Ways to fuse heads, with their names"""


def no_such_head(head: int, block: int, heads: int) -> SettingError:
    """Make the error for a head that a block lacks."""
    return SettingError(
        Text(
            "There is no head {head}: block {block} has heads 0 to {last}.",
            "头 {head} 不存在：块 {block} 的头编号为 0 到 {last}。",
        ).format(head=head, block=block, last=heads - 1)
    )


@dataclass(frozen=True)
class HeadControl(Control):
    """One head, or all heads fused."""

    name: str = "head"
    label: Text = Text("Head", "注意力头")
    fusions: tuple[str, ...] = tuple(FUSIONS)

    kind: ClassVar[str] = "choice"

    def default(self, capture: CaptureProtocol) -> int | str:
        """Return the first fusion, the mean; head 0 if fusion is not allowed."""
        return self.fusions[0] if self.fusions else 0

    def parse(self, value: Any, capture: CaptureProtocol, settings: Mapping[str, Any]) -> int | str:
        """Return a head of the selected block, or a fusion."""
        if value in self.fusions:
            return value
        if isinstance(value, str) and not value.lstrip("-").isdigit():
            raise unknown_name("head or fusion", value, self.fusions)
        head, heads = whole_number(self.name, value), capture.num_heads(settings["block"])
        if not 0 <= head < heads:
            raise no_such_head(head, settings["block"], heads)
        return head

    def details(self, capture: CaptureProtocol | None, settings: Mapping[str, Any], result: Result | None) -> Fields:
        """Return the fusions and the heads of the selected block, by default the last one."""
        fusions = ", ".join(self.fusions)
        takes = Text("counted from 0, or {fusions}", "从 0 开始编号，或 {fusions}").format(fusions=fusions)
        fields = {"takes": takes if fusions else COUNTED}
        if capture is None:
            return fields
        heads = range(capture.num_heads(settings.get("block", capture.depth - 1)))
        fused = ((how, FUSIONS[how]) for how in self.fusions)
        return fields | {"options": (*fused, *((str(head), same(str(head))) for head in heads))}
