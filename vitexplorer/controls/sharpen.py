"""Control for the number of passes over a shifted image that a map is averaged from, see `quantities/sharpening.py`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vitexplorer.controls.choice import Choice
from vitexplorer.controls.explained import PatchAlike, Region
from vitexplorer.controls.images import NamedCapture
from vitexplorer.core.capture_protocol import CaptureProtocol
from vitexplorer.core.text import Text

PASSES = (1, 4, 16, 64)
"""Squares of 1, 2, 4 and 8 shifts along each side of a patch"""
CHANGED = Text(
    "Sharpening moves the image through the unchanged network; take the change away first.",
    "细化需要把图像平移后送入未经更改的网络；请先撤销更改。",
)
PATCHES_OF_ITS_OWN = Text(
    "Sharpening moves the patches of the image, so the target cannot be one of them; choose a class or another image.",
    "细化会平移图像的图块，因此目标不能是其中的图块；请选择一个类别或另一幅图像。",
)
SECOND_MODEL = Text(
    "Sharpening moves the image, and the second model's capture would stay where it is; choose another method.",
    "细化会平移图像，而第二个模型的前向传播记录不会随之移动；请选择其他方法。",
)
INDIVISIBLE = Text(
    "The cells of this map are {size} pixels wide, which cannot be divided by {parts}: at most {most} passes.",
    "该图的格子边长为 {size} 像素，不能被 {parts} 整除：最多 {most} 次前向传播。",
)


@dataclass(frozen=True)
class SharpenControl(Choice):
    """Number of passes, one of `PASSES`; 1 is the map of the patches themselves.

    It follows the controls of target, block and second capture, and offers only what they leave possible.
    """

    name: str = "sharpen"
    label: Text = Text("Sharpen", "细化")
    options: tuple[tuple[str, Text], ...] = tuple(
        (str(passes), Text("off", "关") if passes == 1 else Text(f"{passes} passes", f"{passes} 次前向传播"))
        for passes in PASSES
    )
    block: int | str = 0
    """Block on whose grid of keys the map is: a number, -1 for the last, or the name of the control for it"""

    def parse(self, value: Any, capture: CaptureProtocol | None, settings: Mapping[str, Any]) -> int:
        """Return the number of passes.

        Raises UnknownNameError for any other number, SettingError for one that is not possible.
        """
        return int(super().parse(str(value), capture, settings))

    def refusal(self, option: str, capture: CaptureProtocol, settings: Mapping[str, Any]) -> Text | None:
        """Return the reason why a map cannot be sharpened by so many passes, or None if it can."""
        if option == "1":
            return None
        if capture.change:
            return CHANGED
        if isinstance(settings.get("target"), PatchAlike | Region):
            return PATCHES_OF_ITS_OWN
        if any(isinstance(value, NamedCapture) for value in settings.values()):
            return SECOND_MODEL
        size, parts = self._cell(capture, settings), math.isqrt(int(option))
        if size % parts:
            return INDIVISIBLE.format(size=size, parts=parts, most=math.gcd(size, parts) ** 2)
        return None

    def _cell(self, capture: CaptureProtocol, settings: Mapping[str, Any]) -> int:
        """Return the side of a cell of the map in pixels."""
        block = settings.get(self.block, -1) if isinstance(self.block, str) else self.block
        return capture.key_grid(range(capture.depth)[block]).patch_size


def sharpens(given: Mapping[str, Any]) -> bool:
    """Return True if settings, as they were given, ask for more passes than one."""
    return str(given.get("sharpen") or 1) != "1"
