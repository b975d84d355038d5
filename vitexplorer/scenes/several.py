"""Scenes of two to four objects of different classes, each with its own mask, beside each other on one ground.

Which class a map explains can be told from where it lies: every object but one is wrong. The objects are of different
sizes, so that the largest is a target that the picture names itself; with `framed`, four corners of paper name one
object, drawn independently of class, size and place. Each object can be left out with its shadow; whatever of it lay
over the rest is then as it would be.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from vitexplorer.scenes.colours import Palette
from vitexplorer.scenes.paper import (
    Light,
    box_of,
    cast_shadow,
    colour_of,
    draw,
    fill,
    light_of,
    light_up,
    paint_clutter,
    paint_ground,
    paint_object,
    paint_occluders,
    place_object,
)
from vitexplorer.scenes.shapes import LABEL_NAMES, Contour
from vitexplorer.scenes.streams import generators

MOST = 4
"""Objects in one scene"""
_LARGEST = {2: 0.25, 3: 0.21, 4: 0.19}
"""Radius of the largest object, in shares of the side, by the number of objects"""


@dataclass(frozen=True)
class SeveralScene:
    """A picture of several objects and the truth about it."""

    image: np.ndarray
    """(height, width, 3) uint8 RGB"""
    masks: np.ndarray
    """(objects, height, width) bool: pixels where each object is seen, occluded parts excluded; no two overlap"""
    labels: tuple[int, ...]
    """Indices into `LABEL_NAMES`, all different"""
    boxes: tuple[tuple[int, int, int, int], ...]
    """Box of each mask: top, left, bottom, right in pixels, the last two exclusive"""
    framed: int
    """Number of the object that the frame is about, with or without a frame"""

    @property
    def largest(self) -> int:
        """Number of the object with the most visible pixels."""
        return int(self.masks.sum((1, 2)).argmax())


def draw_several(
    stream: str, index: int, size: int = 192, *, without: Collection[int] = (), framed: bool = False
) -> SeveralScene:
    """Draw scene number `index` of a stream ("train", "validation", "test", "examples") at `size` x `size` pixels.

    Objects whose numbers are in `without` are left out, with their shadows; their masks still say where they would be.
    `framed` lays a frame about the object that the result names in its field `framed`.

    Raises:
        ValueError: no such stream.
    """
    world, ground, under, frame, air, *own = generators(stream, index, 5 + 2 * MOST, "several objects")
    palette, light = Palette(world), light_of(world)
    count = int(world.integers(2, MOST + 1))
    labels = tuple(int(label) for label in world.permutation(len(LABEL_NAMES))[:count])
    radii, centres = arranged(world, count)
    named = int(world.integers(count))

    canvas = paint_ground(ground, palette, size)
    paint_clutter(canvas, under, palette, light, int(under.integers(3, 9)))
    alphas, covered = [], np.zeros((size, size), np.uint8)
    for number, (label, radius, centre, thing) in enumerate(zip(labels, radii, centres, own[:count], strict=True)):
        outline, details = place_object(thing, label, radius, centre)
        alphas.append(fill(outline, size))
        if number not in without:
            cast_shadow(canvas, alphas[-1], light)
            paint_object(canvas, thing, alphas[-1], details, centre, palette, light)
    for radius, centre, over in zip(radii, centres, own[MOST : MOST + count], strict=True):
        covered = np.maximum(covered, paint_occluders(canvas, over, palette, light, centre, radius))
    if framed:
        covered = np.maximum(covered, _paint_frame(canvas, frame, palette, light, centres[named], radii[named]))
    image = light_up(canvas, air, light)

    masks = (np.stack(alphas) > 127) & (covered < 128)
    for number in reversed(range(count)):  # a later object lies over an earlier one
        masks[:number] &= ~masks[number]
    return SeveralScene(image, masks, labels, tuple(box_of(mask) for mask in masks), named)


def arranged(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw radii (count,) and centres (count, 2), a little smaller each time, until no two discs touch."""
    radii = rng.uniform(0.62, 1.0, count) * _LARGEST[count]
    while True:
        for _ in range(40):
            centres = rng.uniform(radii[:, None], 1 - radii[:, None], (count, 2))
            apart = np.linalg.norm(centres[:, None] - centres, axis=-1) - 1.04 * (radii[:, None] + radii)
            if (apart[~np.eye(count, dtype=bool)] > 0).all():
                return radii, centres
        radii = 0.96 * radii


def _paint_frame(
    canvas: np.ndarray, rng: np.random.Generator, palette: Palette, light: Light, centre: np.ndarray, radius: float
) -> np.ndarray:
    """Paint four paper corners about an object, in place; return their coverage, (size, size) uint8."""
    colour, reach = colour_of(palette.thing(rng)), 1.12 * radius
    width, arm = 0.016, 0.45 * reach
    corner = np.array([(0, 0), (arm, 0), (arm, width), (width, width), (width, arm), (0, arm)]) - reach
    middle = np.clip(centre, reach + 0.01, 0.99 - reach)  # all of it is on the picture
    corners: list[Contour] = [corner * (x, y) + middle for x in (-1, 1) for y in (-1, 1)]
    alpha = fill(corners, len(canvas))
    cast_shadow(canvas, alpha, light)
    for contour in corners:
        draw(canvas, contour, colour)
    return alpha
