"""Control for one token, for views that make no sense for a mean over tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from vitexplorer.controls.query import QueryControl
from vitexplorer.controls.sharpest import sharpest_patch
from vitexplorer.core.capture_protocol import CaptureProtocol
from vitexplorer.core.text import SettingError, Text
from vitexplorer.core.types import Query


@dataclass(frozen=True)
class TokenControl(QueryControl):
    """One token: "cls", "dist" or the patch (row, col); the mean over patches is not allowed."""

    label: Text = Text("Token", "标记")
    patch_first: bool = False
    """True if a patch is the default even if there is a class token"""

    takes: ClassVar[Text] = Text("cls, dist, or a patch as row,col", "cls、dist，或图块的 row,col")

    def default(self, capture: CaptureProtocol) -> Query:
        """Return the class token if there is one, otherwise the sharpest patch of the last block's grid."""
        if "cls" in capture.prefix_tokens and not self.patch_first:
            return "cls"
        return sharpest_patch(capture.input.pixels, capture.grid(capture.depth - 1))

    def offered(self, capture: CaptureProtocol) -> tuple[tuple[str, Text], ...]:
        """Return the prefix tokens that a query can name."""
        return tuple(option for option in super().offered(capture) if option[0] != "mean")

    def parse(self, value: Any, capture: CaptureProtocol, settings: Mapping[str, Any]) -> Query:
        """Return a token that exists in the selected block. Raises SettingError otherwise."""
        query = super().parse(value, capture, settings)
        if query == "mean":
            raise SettingError(
                Text(
                    "This view needs one token: (row, col) or the name of a prefix token, not the mean over patches.",
                    "该视图需要一个具体的标记：（行，列）或前缀标记的名称，而不是图块平均。",
                )
            )
        return query
