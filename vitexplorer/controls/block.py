"""Control for a block of the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from vitexplorer.controls.control import Control
from vitexplorer.controls.number import whole_number
from vitexplorer.controls.spec import Fields
from vitexplorer.core.capture_protocol import CaptureProtocol
from vitexplorer.core.text import SettingError, Text
from vitexplorer.core.types import Result

COUNTED = Text("counted from 0", "从 0 开始编号")


def no_such_block(block: int, depth: int, name: str = "block") -> SettingError:
    """Make the error for a block that the model lacks; it mentions the control's `name` unless that is "block"."""
    if name != "block":
        return SettingError(
            Text(
                "{name}: there is no block {block}, this model has blocks 0 to {last}.",
                "{name}：块 {block} 不存在，该模型的块编号为 0 到 {last}。",
            ).format(name=name, block=block, last=depth - 1)
        )
    return SettingError(
        Text(
            "There is no block {block}: this model has blocks 0 to {last}.",
            "块 {block} 不存在：该模型的块编号为 0 到 {last}。",
        ).format(block=block, last=depth - 1)
    )


@dataclass(frozen=True)
class BlockControl(Control):
    """Block, counted from 0; defaults to the last one, or to the first."""

    name: str = "block"
    label: Text = Text("Block", "块")
    first: bool = False

    kind: ClassVar[str] = "number"
    takes: ClassVar[Text | None] = COUNTED

    def default(self, capture: CaptureProtocol) -> int:
        """Return the last block, or the first."""
        return 0 if self.first else capture.depth - 1

    def parse(self, value: Any, capture: CaptureProtocol, settings: Mapping[str, Any]) -> int:
        """Return the number of an existing block. Raises SettingError for any other."""
        block = whole_number(self.name, value)
        if not 0 <= block < capture.depth:
            raise no_such_block(block, capture.depth, self.name)
        return block

    def details(self, capture: CaptureProtocol | None, settings: Mapping[str, Any], result: Result | None) -> Fields:
        """Return the range, up to the last block."""
        return {"low": 0, "step": 1, "high": None if capture is None else capture.depth - 1}
