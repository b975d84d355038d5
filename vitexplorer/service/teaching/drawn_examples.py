"""Drawn scenes of a few classes, to try teaching without pictures of one's own."""

from __future__ import annotations

from functools import cache

from jaxtyping import UInt8
from numpy import ndarray

from vitexplorer.core.text import Text
from vitexplorer.finetune.data.example import scenes_of
from vitexplorer.scenes.shapes import LABEL_NAMES, LABEL_NAMES_ZH

CLASSES = ("flower", "fish", "mug")
TAUGHT, ASK = 5, 2
"""Scenes of each class to teach with, and to ask about"""
_SIDE = 192
"""Pixels"""
_FIRST = 20_000
"""Number of the first scene, beyond those that other parts of the page show"""


@cache
def drawn_examples() -> tuple[tuple[Text, tuple[UInt8[ndarray, "height width 3"], ...]], ...]:
    """Draw the scenes of each class, those to ask about last; always the same ones."""
    found: dict[str, list[ndarray]] = {name: [] for name in CLASSES}
    for _, scene in scenes_of(CLASSES, TAUGHT + ASK, _SIDE, first=_FIRST):
        found[LABEL_NAMES[scene.label]].append(scene.image)
    chinese = dict(zip(LABEL_NAMES, LABEL_NAMES_ZH, strict=True))
    return tuple((Text(name, chinese[name]), tuple(scenes)) for name, scenes in found.items())
