"""Control for the number of passes over a shifted image that a map is averaged from, see `quantities/sharpening.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vitexplorer.controls.choice import Choice
from vitexplorer.core.capture_protocol import CaptureProtocol
from vitexplorer.core.text import Text

PASSES = (1, 4, 16, 64)
"""Squares of 1, 2, 4 and 8 shifts along each side of a patch"""


@dataclass(frozen=True)
class SharpenControl(Choice):
    """Number of passes, one of `PASSES`; 1 is the map of the patches themselves."""

    name: str = "sharpen"
    label: Text = Text("Sharpen", "细化")
    options: tuple[tuple[str, Text], ...] = tuple(
        (str(passes), Text("off", "关") if passes == 1 else Text(f"{passes} passes", f"{passes} 次前向传播"))
        for passes in PASSES
    )

    def parse(self, value: Any, capture: CaptureProtocol | None, settings: Mapping[str, Any]) -> int:
        """Return the number of passes. Raises UnknownNameError for any other number."""
        return int(super().parse(str(value), capture, settings))


def sharpens(given: Mapping[str, Any]) -> bool:
    """Return True if settings, as they were given, ask for more passes than one."""
    return str(given.get("sharpen") or 1) != "1"
