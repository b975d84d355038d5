"""A head of a block, or all of them fused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vitexplorer.controls.control import Control
from vitexplorer.controls.whole_number import whole_number
from vitexplorer.errors import SettingError
from vitexplorer.explored import Explored
from vitexplorer.registry import unknown_name
from vitexplorer.words import Text


@dataclass(frozen=True)
class HeadControl(Control):
    """One head, or all heads fused."""

    name: str = "head"
    label: Text = Text("Head", "注意力头")
    fusions: tuple[str, ...] = ("mean", "max", "min")

    def default(self, capture: Explored) -> int | str:
        """All heads, fused by their mean; the first head where they may not be fused."""
        return self.fusions[0] if self.fusions else 0

    def parse(self, value: Any, capture: Explored, settings: Mapping[str, Any]) -> int | str:
        """A head of the block chosen before, or a fusion."""
        if value in self.fusions:
            return value
        if isinstance(value, str) and not value.lstrip("-").isdigit():
            raise unknown_name("head or fusion", value, self.fusions)
        head, heads = whole_number(self.name, value), capture.num_heads(settings["block"])
        if not 0 <= head < heads:
            raise SettingError(
                Text(
                    "There is no head {head}: block {block} has heads 0 to {last}.",
                    "没有头 {head}：块 {block} 的头编号为 0 到 {last}。",
                ).format(head=head, block=settings["block"], last=heads - 1)
            )
        return head
