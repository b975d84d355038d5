"""Paper under a lamp: the parts of every drawn scene, from its ground to the grain over everything.

Layers are painted from the ground up, in place, on a (size, size, 3) uint8 canvas. Lengths and places are shares of
the side, so that a scene has the same content at every size.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from vitexplorer.scenes.colours import Palette
from vitexplorer.scenes.grounds import ground_field, noise, places
from vitexplorer.scenes.shapes import LABEL_NAMES, SHAPES, Contour, blob, stroke

_SUBPIXEL = 6  # bits after the point in cv2's coordinates


@dataclass(frozen=True)
class Light:
    """Offset (x and y, in shares of the side), darkness and softness of shadows."""

    offset: tuple[float, float]
    shadow: float
    softness: float

    @property
    def direction(self) -> tuple[float, float]:
        """Unit vector away from the lamp."""
        length = float(np.hypot(*self.offset))
        return self.offset[0] / length, self.offset[1] / length


def light_of(rng: np.random.Generator) -> Light:
    """Draw a random lamp."""
    angle, distance = rng.uniform(0, 2 * np.pi), rng.uniform(0.006, 0.022)
    offset = float(distance * np.cos(angle)), float(distance * np.sin(angle))
    return Light(offset, rng.uniform(0.2, 0.5), rng.uniform(0.008, 0.02))


def paint_ground(rng: np.random.Generator, palette: Palette, size: int) -> np.ndarray:
    """Paint the ground, (size, size, 3) uint8: two colours mixed by the field."""
    field = np.clip(ground_field(rng, size) * 255, 0, 255).astype(np.uint8)
    share = np.linspace(-0.15, 1.15, 256)[:, None]  # past both ends: the extremes are a little stronger
    table = np.clip(palette.ground[0] * (1 - share) + palette.ground[1] * share, 0, 255)
    return np.take(np.rint(table).astype(np.uint8), field, axis=0)


def place(contour: Contour, radius: float, centre: np.ndarray, angle: float, stretch: float = 1.0) -> Contour:
    """Transform unit coordinates to shares of the side: stretch along x, turn, scale, move."""
    cos, sin = np.cos(angle), np.sin(angle)
    turn = np.array([[cos, sin], [-sin, cos]])
    return (contour * (stretch, 1 / stretch)) @ turn * radius + centre


def _pixels(contour: Contour, size: int) -> np.ndarray:
    # cv2 puts integer coordinates at pixel centres: half a pixel less than ours
    return np.rint((contour * size - 0.5) * (1 << _SUBPIXEL)).astype(np.int32)


def draw(canvas: np.ndarray, contour: Contour, colour: int | tuple[int, int, int]) -> None:
    """Fill a contour, in place."""
    cv2.fillPoly(canvas, [_pixels(contour, len(canvas))], colour, cv2.LINE_AA, _SUBPIXEL)


def fill(contours: list[Contour], size: int) -> np.ndarray:
    """Compute the coverage of contours, (size, size) uint8, even-odd."""
    alpha = np.zeros((size, size), np.uint8)
    cv2.fillPoly(alpha, [_pixels(c, size) for c in contours], 255, cv2.LINE_AA, _SUBPIXEL)
    return alpha


def cast_shadow(canvas: np.ndarray, alpha: np.ndarray, light: Light) -> None:
    """Cast a layer's shadow, moved and blurred, in place."""
    size = len(canvas)
    move = np.array([[1, 0, light.offset[0] * size], [0, 1, light.offset[1] * size]], np.float32)
    shadow = cv2.warpAffine(alpha, move, (size, size), flags=cv2.INTER_LINEAR)
    width = max(1, round(light.softness * size)) * 2 + 1
    shadow = cv2.blur(cv2.blur(shadow, (width, width)), (width, width))
    dark = 255 - cv2.convertScaleAbs(shadow, alpha=light.shadow)
    cv2.multiply(canvas, cv2.merge([dark, dark, dark]), canvas, 1 / 255)


def colour_of(rgb: np.ndarray) -> tuple[int, int, int]:
    """Convert a colour for cv2."""
    return tuple(round(float(c)) for c in rgb)


def paint_clutter(canvas: np.ndarray, rng: np.random.Generator, palette: Palette, light: Light, count: int) -> None:
    """Paint blobs, dots and strokes under the object, with one shadow, in place."""
    size = len(canvas)
    pieces = [loose_piece(rng) for _ in range(count)]
    colours = [colour_of(palette.thing(rng)) for _ in pieces]
    silhouettes = np.zeros((size, size), np.uint8)
    for piece in pieces:
        draw(silhouettes, piece, 255)
    cast_shadow(canvas, silhouettes, light)
    for piece, colour in zip(pieces, colours, strict=True):
        draw(canvas, piece, colour)


def loose_piece(rng: np.random.Generator) -> Contour:
    """Draw a random blob, dot or stroke, in shares of the side."""
    centre, angle, kind = rng.uniform(0, 1, 2), rng.uniform(0, 2 * np.pi), rng.uniform()
    if kind < 0.45:
        return place(blob(rng), rng.uniform(0.04, 0.15), centre, angle)
    if kind < 0.7:
        return place(blob(rng, 2), rng.uniform(0.012, 0.03), centre, angle)
    return place(stroke(rng, rng.uniform(0.04, 0.08)), rng.uniform(0.1, 0.4), centre, angle)


def place_object(
    rng: np.random.Generator, label: int, radius: float, centre: np.ndarray
) -> tuple[list[Contour], list[Contour]]:
    """Place outline and details of a specimen: mirrored, stretched, turned and moved."""
    shape = SHAPES[LABEL_NAMES[label]](rng)
    mirror = (rng.choice([-1.0, 1.0]), 1.0)
    angle, stretch = rng.uniform(-0.7, 0.7), rng.uniform(0.92, 1.08)
    outline, details = (
        [place(contour * mirror, radius, centre, angle, stretch) for contour in part]
        for part in (shape.outline, shape.details)
    )
    return outline, details


def paint_object(
    canvas: np.ndarray,
    rng: np.random.Generator,
    alpha: np.ndarray,
    details: list[Contour],
    centre: np.ndarray,
    palette: Palette,
    light: Light,
    pattern: np.ndarray | None = None,
) -> None:
    """Paint the object's gradient, texture, details and lit rim, in place, inside its box only.

    `pattern`, (size, size) float, is added to all three channels.
    """
    size = len(canvas)
    texture, accent = noise(rng, int(rng.choice([6, 18, 40])), size), palette.thing(rng)
    colour, second = palette.thing(rng), palette.thing(rng)
    strength, blend, angle = rng.uniform(2, 12), rng.uniform(0, 0.35), rng.uniform(0, 2 * np.pi)
    if not alpha.any():
        return
    top, left, bottom, right = box_of(alpha > 0)
    here = np.s_[top:bottom, left:right]

    x, y = (axis[here] - np.float32(middle) for axis, middle in zip(places(size), centre, strict=True))
    slope = np.clip(0.5 + 1.8 * (float(np.cos(angle)) * x + float(np.sin(angle)) * y), 0, 1)
    paint = colour + (blend * slope)[..., None] * (second - colour) + (strength * texture[here])[..., None]
    if pattern is not None:
        paint += pattern[here][..., None]
    if details:
        cover = fill(details, size)[here].astype(np.float32)[..., None] / 255
        paint += cover * (accent - paint)
    # a bevel: the rim is bright where the softened outline rises away from the lamp, that is towards its shadow
    width = max(1, round(0.006 * size)) * 2 + 1
    height = cv2.blur(alpha, (width, width)).astype(np.float32)[here] / 255
    rise = cv2.Sobel(height, -1, 1, 0) * light.direction[0] + cv2.Sobel(height, -1, 0, 1) * light.direction[1]
    paint += (11 * width * rise)[..., None]
    cover = alpha[here].astype(np.float32)[..., None] / 255
    canvas[here] = np.clip(canvas[here] * (1 - cover) + paint * cover, 0, 255).astype(np.uint8)


def paint_occluders(
    canvas: np.ndarray, rng: np.random.Generator, palette: Palette, light: Light, centre: np.ndarray, radius: float
) -> np.ndarray:
    """Paint up to two strokes or blobs across the object, in place; return their coverage, (size, size) uint8."""
    covered = np.zeros(canvas.shape[:2], np.uint8)
    for _ in range(int(rng.choice(3, p=[0.55, 0.35, 0.1]))):
        angle = rng.uniform(0, 2 * np.pi)
        middle = centre + radius * rng.uniform(0.3, 1.0) * np.array([np.cos(angle), np.sin(angle)])
        turn, colour = rng.uniform(0, 2 * np.pi), colour_of(palette.thing(rng))
        if rng.uniform() < 0.5:
            piece = place(stroke(rng, rng.uniform(0.04, 0.09)), radius * rng.uniform(0.6, 1.4), middle, turn)
        else:
            piece = place(blob(rng), radius * rng.uniform(0.2, 0.42), middle, turn)
        alpha = fill([piece], len(canvas))
        cast_shadow(canvas, alpha, light)
        draw(canvas, piece, colour)
        covered = np.maximum(covered, alpha)
    return covered


def light_up(canvas: np.ndarray, rng: np.random.Generator, light: Light) -> np.ndarray:
    """Apply the lamp's fall-off and the grain of the paper."""
    size = len(canvas)
    x, y = places(size)
    away = light.direction[0] * (x - 0.5) + light.direction[1] * (y - 0.5)
    shade = rng.uniform(0.94, 1.06) - rng.uniform(0, 0.4) * away
    shade = shade + rng.uniform(0.005, 0.03) * noise(rng, 64, size)
    gain = np.clip(shade * 128, 0, 255).astype(np.uint8)
    return cv2.multiply(canvas, cv2.merge([gain, gain, gain]), scale=1 / 128)


def box_of(mask: np.ndarray) -> tuple[int, int, int, int]:
    """Compute top, left, bottom, right of a mask in pixels, the last two exclusive; zeros for an empty one."""
    rows, cols = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    if not len(rows):
        return 0, 0, 0, 0
    return int(rows[0]), int(cols[0]), int(rows[-1]) + 1, int(cols[-1]) + 1
