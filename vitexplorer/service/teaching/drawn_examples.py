"""Drawn scenes of a few classes, for whoever wants to see teaching work before they have pictures."""

from __future__ import annotations

from functools import cache

from jaxtyping import UInt8
from numpy import ndarray

from vitexplorer.core.text import Text
from vitexplorer.scenes.shapes import LABEL_NAMES, LABEL_NAMES_ZH

CLASSES = ("flower", "fish", "mug")
TAUGHT, ASK = 5, 2
"""scenes of each class to teach with, and to ask about"""
_SIDE, _FIRST = 192, 20_000
"""pixels; the number of the first scene, behind those that other parts of the page show"""


@cache
def drawn_examples() -> tuple[tuple[Text, tuple[UInt8[ndarray, "height width 3"], ...]], ...]:
    """Each class with its scenes, those to ask about last; always the same ones."""
    from vitexplorer.scenes import draw_scene  # and with it OpenCV, for which the page need not wait

    found: dict[str, list[ndarray]] = {name: [] for name in CLASSES}
    number = _FIRST
    while any(len(scenes) < TAUGHT + ASK for scenes in found.values()):
        scene = draw_scene("examples", number, _SIDE)
        scenes = found.get(LABEL_NAMES[scene.label])
        if scenes is not None and len(scenes) < TAUGHT + ASK:
            scenes.append(scene.image)
        number += 1
    chinese = dict(zip(LABEL_NAMES, LABEL_NAMES_ZH, strict=True))
    return tuple((Text(name, chinese[name]), tuple(scenes)) for name, scenes in found.items())
