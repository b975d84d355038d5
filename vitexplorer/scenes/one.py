"""Scenes of one object of a known class, with its mask, on a cluttered ground, like paper cut-outs under a lamp.

Position, size, rotation, colour, texture, light, clutter and occlusion are drawn independently of the class, so that
only the outline tells it. A scene is a function of (stream, index) alone, and of the size only up to resolution:
training images are drawn at 192 pixels and example pictures at 768.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitexplorer.scenes.colours import Palette
from vitexplorer.scenes.paper import (
    box_of,
    cast_shadow,
    fill,
    light_of,
    light_up,
    paint_clutter,
    paint_ground,
    paint_object,
    paint_occluders,
    place_object,
)
from vitexplorer.scenes.shapes import LABEL_NAMES
from vitexplorer.scenes.streams import generators


@dataclass(frozen=True)
class Scene:
    """A picture of one object, with its mask and class."""

    image: np.ndarray
    """(height, width, 3) uint8 RGB"""
    mask: np.ndarray
    """(height, width) bool: pixels where the object is seen, occluded parts excluded"""
    label: int
    """Index into `LABEL_NAMES`"""
    box: tuple[int, int, int, int]
    """Top, left, bottom, right of the mask in pixels, the last two exclusive"""


def draw_scene(stream: str, index: int, size: int = 192, *, with_object: bool = True) -> Scene:
    """Draw scene number `index` of a stream ("train", "validation", "test", "examples") at `size` x `size` pixels.

    `with_object=False` leaves the object and its shadow out and changes nothing else; the mask still says where it
    would be.

    Raises:
        ValueError: no such stream.
    """
    world, ground, under, thing, over, air = generators(stream, index, 6)

    label = int(world.integers(len(LABEL_NAMES)))
    palette = Palette(world)
    light = light_of(world)
    radius = world.uniform(0.2, 0.34)
    centre = world.uniform(0.92 * radius, 1 - 0.92 * radius, 2)

    canvas = paint_ground(ground, palette, size)
    paint_clutter(canvas, under, palette, light, int(under.integers(3, 10)))
    outline, details = place_object(thing, label, radius, centre)
    alpha = fill(outline, size)
    if with_object:
        cast_shadow(canvas, alpha, light)
        paint_object(canvas, thing, alpha, details, centre, palette, light)
    covered = paint_occluders(canvas, over, palette, light, centre, radius)
    image = light_up(canvas, air, light)

    mask = (alpha > 127) & (covered < 128)
    return Scene(image, mask, label, box_of(mask))
