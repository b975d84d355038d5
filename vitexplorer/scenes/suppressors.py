"""Two sheets of grey paper: one tells the class through noise, the other shows the noise alone. Which one is important?

A suppressor says nothing of the class by itself, yet a model that subtracts it from what does say something answers
better (Haufe et al. 2014, doi 10.1016/j.neuroimage.2013.10.067). XAI-TRIS (Clark et al. 2024, arXiv 2306.12816) builds
pictures on this: important is what depends on the class by construction, and relevance on a suppressor is a false
positive, although the model uses it. Here the round sheet is SIGNAL levels darker or lighter than the middle of the
scale, by its class, plus a lamp that is stronger or weaker in every scene; the square sheet lies under the same lamp
and is always the same. Difference of the two: the class, without error; the round sheet alone: about 72 % right; the
square one alone: chance.

Places, sizes, angles, the ground and the loose pieces are independent of the class and of the lamp.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitexplorer.scenes.colours import Palette
from vitexplorer.scenes.grounds import noise
from vitexplorer.scenes.paper import cast_shadow, fill, light_of, paint_clutter, paint_ground, place
from vitexplorer.scenes.shapes import Contour
from vitexplorer.scenes.streams import generators

MIDDLE, SIGNAL = 128.0, 16.0
"""Levels of 0-255: of the square sheet under the mean lamp, and what the class adds to the round one or takes off"""
LAMP, STRONGEST = 28.0, 80.0
"""Levels: standard deviation of the lamp, and where it is cut off"""
_ROUND = np.stack([np.cos(turn := np.linspace(0, 2 * np.pi, 64, endpoint=False)), np.sin(turn)], 1)
_SQUARE = np.array([(-0.86, -0.86), (0.86, -0.86), (0.86, 0.86), (-0.86, 0.86)])


@dataclass(frozen=True)
class SuppressedScene:
    """A picture and the truth about it."""

    image: np.ndarray
    """(height, width, 3) uint8 RGB"""
    label: int
    """0: the round sheet is of the darker paper, 1: of the lighter"""
    informative: np.ndarray
    """(height, width) bool: the round sheet, the only pixels that depend on the class"""
    suppressor: np.ndarray
    """(height, width) bool: the square sheet"""
    lamp: float
    """Levels that the lamp adds to both sheets"""


def draw_suppressed(
    stream: str, index: int, size: int = 192, *, label: int | None = None, lamp: float | None = None
) -> SuppressedScene:
    """Draw scene number `index` of a stream ("train", "validation", "test", "examples") at `size` x `size` pixels.

    Args:
        stream: its name.
        index: of the scene.
        size: pixels a side.
        label: what it would be were the paper of this class; None: as it was drawn.
        lamp: what it would be under this lamp, in levels; None: as it was drawn.

    Raises:
        ValueError: no such stream.
    """
    world, ground, under, sheets, fibres = generators(stream, index, 5, "suppressor")
    drawn_label, drawn_lamp = int(world.integers(2)), float(np.clip(world.normal(0, LAMP), -STRONGEST, STRONGEST))
    label, lamp = drawn_label if label is None else label, drawn_lamp if lamp is None else lamp
    palette, light = Palette(world), light_of(world)

    canvas = paint_ground(ground, palette, size)
    paint_clutter(canvas, under, palette, light, int(under.integers(2, 6)))
    outlines = _arranged(sheets)
    levels = (MIDDLE + lamp + SIGNAL * (2 * label - 1), MIDDLE + lamp)
    masks = []
    for outline, level in zip(outlines, levels, strict=True):
        alpha = fill([outline], size)
        cast_shadow(canvas, alpha, light)
        paper = level + 3 * noise(fibres, 40, size)[..., None]
        cover = alpha[..., None] / np.float32(255)
        canvas[:] = np.rint(canvas * (1 - cover) + paper * cover).clip(0, 255)
        masks.append(alpha > 0)
    return SuppressedScene(canvas, label, *masks, lamp)


def _arranged(rng: np.random.Generator) -> list[Contour]:
    """Place the round and the square sheet on either side of the middle, turned about it together."""
    direction = rng.uniform(0, 2 * np.pi)
    away = rng.uniform(0.21, 0.26) * np.array([np.cos(direction), np.sin(direction)])
    radii = rng.uniform(0.14, 0.19, 2)
    return [
        place(_ROUND, radii[0], 0.5 + away, 0.0),
        place(_SQUARE, radii[1], 0.5 - away, rng.uniform(0, np.pi / 2)),
    ]
