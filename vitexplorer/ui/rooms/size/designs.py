"""Designs of a ViT by sliders, written in the address as `ViT-B/16;depth=24;dim=1024`.

The first word is the start of the design: a model of the literature, or nothing for the model on the screen. The rest
are the sliders that were moved.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from vitexplorer.core.text import Text
from vitexplorer.quantities.parameter_formulas import ViTShape
from vitexplorer.ui.rooms.size.literature import PRESETS
from vitexplorer.ui.rooms.size.words import CALCULATOR_WORDS


@dataclass(frozen=True)
class Slider:
    """Range of one size."""

    low: float
    high: float
    step: float


SLIDERS = {
    "image_size": Slider(32, 1024, 1),
    "patch_size": Slider(2, 64, 1),
    "dim": Slider(32, 2048, 16),
    "depth": Slider(1, 48, 1),
    "num_heads": Slider(1, 32, 1),
    "mlp_ratio": Slider(1, 8, 0.5),
    "classes": Slider(0, 22000, 1),
}


@dataclass(frozen=True)
class Design:
    """Design of a ViT: its start, and the sliders that were moved."""

    preset: str
    moved: Mapping[str, float]

    @classmethod
    def read(cls, text: str) -> Design:
        """Read a design from an address; unknown sliders are left out and values are clipped to their range."""
        preset, *moves = text.split(";")
        moved = {}
        for name, _, value in (move.partition("=") for move in moves):
            if name in SLIDERS and re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,3})?", value):
                moved[name] = min(max(float(value), SLIDERS[name].low), SLIDERS[name].high)
        return cls(preset if preset in PRESETS else "", moved)

    @property
    def text(self) -> str:
        """Text of the design in an address."""
        return ";".join([self.preset, *(f"{name}={value:g}" for name, value in self.moved.items())])

    def __bool__(self) -> bool:
        """Return True where a start was chosen or a slider was moved."""
        return bool(self.preset or self.moved)

    def shape(self, own: ViTShape | None) -> ViTShape:
        """Return the shape of the designed ViT; `own` is the model on the screen, None where it is no plain ViT."""
        base = PRESETS.get(self.preset) or own or ViTShape()
        integers = {name: int(self.moved[name]) for name in ("patch_size", "depth", "num_heads") if name in self.moved}
        side = self.moved.get("image_size")
        dim = int(self.moved.get("dim", base.dim))
        return replace(
            base,
            **integers,
            image_size=(int(side), int(side)) if side else base.image_size,
            dim=dim,
            hidden=int(self.moved.get("mlp_ratio", base.hidden / base.dim) * dim),
            classes=int(self.moved.get("classes", base.classes)),
        )


def settings_of(shape: ViTShape) -> dict[str, float]:
    """Return the positions of the sliders for a shape."""
    return {
        "image_size": shape.image_size[0],
        "patch_size": shape.patch_size,
        "dim": shape.dim,
        "depth": shape.depth,
        "num_heads": shape.num_heads,
        "mlp_ratio": shape.hidden / shape.dim,
        "classes": shape.classes,
    }


def design_note(shape: ViTShape) -> Text:
    """Return the note on a shape: patches that do not fit the image, heads that do not divide the width, or a rule."""
    if shape.num_patches == 0:
        return CALCULATOR_WORDS["no_patches"]
    if shape.image_size[0] % shape.patch_size:
        return CALCULATOR_WORDS["cut_patches"].format(left=shape.image_size[0] % shape.patch_size)
    if shape.dim % shape.num_heads:
        return CALCULATOR_WORDS["heads_uneven"].format(heads=shape.num_heads, dim=shape.dim)
    return CALCULATOR_WORDS["heads_note"]
