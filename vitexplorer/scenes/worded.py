"""Scenes that sentences can be said about: one to four objects of named colours and patterns, and the facts of each.

The objects of a scene differ in class and in colour, so that "the red one" and "the gear" are one object each. Clutter
is pale, so that nothing but an object has a colour with a name. A few scenes have no object at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitexplorer.scenes.grounds import places
from vitexplorer.scenes.named_colours import NAMED_COLOURS, OfOneColour, QuietPalette
from vitexplorer.scenes.paper import (
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
from vitexplorer.scenes.several import MOST, arranged
from vitexplorer.scenes.shapes import LABEL_NAMES
from vitexplorer.scenes.streams import generators

COLOURS = tuple(NAMED_COLOURS)
PATTERNS = ("plain", "striped", "dotted")
SMALL, BIG = 0.03, 0.09
"""Share of the picture below which a thing is small, and above which it is big"""
_STRENGTH = 42.0
"""Height of a pattern over and under the object's colour, in sRGB of 0-255"""
_COUNTS = (0.06, 0.5, 0.2, 0.14, 0.1)
"""Probability of each number of objects"""


@dataclass(frozen=True)
class Thing:
    """Facts of one object, as far as it is visible."""

    shape: int
    """Index into `LABEL_NAMES`"""
    colour: int
    """Index into `COLOURS`"""
    pattern: int
    """Index into `PATTERNS`"""
    x: float
    """Middle of the visible part, 0 at the left, 1 at the right"""
    y: float
    """0 at the top, 1 at the bottom"""
    area: float
    """Visible share of the picture"""


@dataclass(frozen=True)
class WordedScene:
    """A picture and what is true of it."""

    image: np.ndarray
    """(height, width, 3) uint8 RGB"""
    masks: np.ndarray
    """(objects, height, width) bool: visible pixels of each object; no two overlap"""
    things: tuple[Thing, ...]


def draw_worded(stream: str, index: int, size: int = 192, *, count: int | None = None) -> WordedScene:
    """Draw scene number `index` of a stream ("train", "validation", "test", "examples") at `size` x `size` pixels.

    `count` sets the number of objects, 0 to 4; otherwise it is drawn, mostly 1.

    Raises:
        ValueError: no such stream.
    """
    world, ground, under, air, *own = generators(stream, index, 4 + 2 * MOST, "worded")
    palette, light = QuietPalette(world), light_of(world)
    drawn = int(world.choice(len(_COUNTS), p=_COUNTS))
    count = drawn if count is None else count
    shapes = world.permutation(len(LABEL_NAMES))[:count]
    colours = world.permutation(palette.visible())[:count]
    patterns = world.choice(len(PATTERNS), count, p=(0.5, 0.25, 0.25))
    if count > 1:
        radii, centres = arranged(world, count)
    else:
        radii = world.uniform(0.2, 0.34, count)
        centres = world.uniform(0.92 * radii[:, None], 1 - 0.92 * radii[:, None], (count, 2))

    canvas = paint_ground(ground, palette, size)
    paint_clutter(canvas, under, palette, light, int(under.integers(3, 9)))
    alphas = np.zeros((count, size, size), np.uint8)
    for number, rng in enumerate(own[:count]):
        outline, details = place_object(rng, int(shapes[number]), radii[number], centres[number])
        alphas[number] = fill(outline, size)
        cast_shadow(canvas, alphas[number], light)
        colour = OfOneColour(NAMED_COLOURS[COLOURS[colours[number]]])
        pattern = _pattern(rng, PATTERNS[patterns[number]], size)
        paint_object(canvas, rng, alphas[number], details, centres[number], colour, light, pattern)
    covered = np.zeros((size, size), np.uint8)
    for radius, centre, rng in zip(radii, centres, own[MOST : MOST + count], strict=True):
        covered = np.maximum(covered, paint_occluders(canvas, rng, palette, light, centre, radius))
    image = light_up(canvas, air, light)

    masks = (alphas > 127) & (covered < 128)
    for number in reversed(range(count)):  # a later object lies over an earlier one
        masks[:number] &= ~masks[number]
    facts = zip(shapes.tolist(), colours.tolist(), patterns.tolist(), strict=True)
    things = tuple(thing_of(mask, *fact) for mask, fact in zip(masks, facts, strict=True))
    return WordedScene(image, masks, things)


def thing_of(mask: np.ndarray, shape: int, colour: int, pattern: int) -> Thing:
    """Measure a thing's place and area on its mask, (size, size) bool."""
    x, y = places(len(mask))
    if not mask.any():
        return Thing(shape, colour, pattern, 0.5, 0.5, 0.0)
    return Thing(shape, colour, pattern, float(x[mask].mean()), float(y[mask].mean()), float(mask.mean()))


def _pattern(rng: np.random.Generator, name: str, size: int) -> np.ndarray | None:
    """Draw stripes or dots, (size, size) float, to be added to a thing's colour; None for a plain thing."""
    angle, periods = rng.uniform(0, np.pi), rng.uniform(9, 14)
    x, y = places(size)
    along = 2 * np.pi * periods * (np.cos(angle) * x + np.sin(angle) * y)
    across = 2 * np.pi * periods * (np.cos(angle) * y - np.sin(angle) * x)
    if name == "striped":
        return _STRENGTH * np.clip(3 * np.sin(along), -1, 1)
    if name == "dotted":
        return _STRENGTH * np.clip(4 * (np.sin(along) * np.sin(across) - 0.35), -0.4, 1)
    return None
