"""Crops of scenes for training: square windows at any angle, first close to the object, finally the whole scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True)
class Window:
    """Square window, in pixels of the scene."""

    centre: np.ndarray
    """Centre (x, y)"""
    side: float
    angle: float
    """Angle in radians"""
    mirrored: bool


Knots = tuple[tuple[float, float], ...]
"""(step, value) pairs, joined by straight lines"""
_TURN = 0.2
"""Largest angle of a window about an object, in radians"""


@dataclass(frozen=True)
class Curriculum:
    """Schedule of a recipe's windows: size, zoom and painted masks by step."""

    sizes: tuple[tuple[int, int], ...]
    """(end step, pixels of a window's side); the last size holds to the end"""
    zooms: Knots
    """Zoom; 1: windows close about the object; 0: the whole scene"""
    paints: Knots
    """Opacity of the object's white mask over a picture before the random shift: 2 full, 0 any, -1 none"""

    def size(self, step: int) -> int:
        """Return the pixels of a window's side."""
        return next((size for until, size in self.sizes if step < until), self.sizes[-1][1])

    def zoom(self, step: int) -> float:
        """Return the zoom, 0-1."""
        return float(np.interp(step, *zip(*self.zooms, strict=True)))

    def paint(self, step: int, rng: np.random.Generator) -> float:
        """Draw a picture's opacity, 0-1: the curriculum's value, shifted by up to one either way and clipped."""
        return float(np.clip(np.interp(step, *zip(*self.paints, strict=True)) + rng.uniform(-1, 1), 0, 1))


def random_window(centre: np.ndarray, side: float, rng: np.random.Generator, turn: float) -> Window:
    """Make a window at an angle of up to `turn` radians either way, mirrored half of the time."""
    return Window(centre, side, rng.uniform(-turn, turn), bool(rng.integers(2)))


def about_object(mask: np.ndarray, rng: np.random.Generator, zoom: float, *, part: bool = False) -> Window:
    """Draw a window that holds the object, or with `part` one of half its side about a part of the object."""
    whole = len(mask)
    rows, cols = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    if not len(rows):
        return random_window(np.full(2, whole / 2), whole / (2 if part else 1), rng, _TURN)
    box = max(np.ptp(rows), np.ptp(cols)) + 1
    closest = min(1.1 * box, whole)
    widest = min(1.5 * box, whole)
    widest = whole - (whole - widest) * zoom
    side = closest + (widest - closest) * (rng.uniform(0.3, 1) if zoom else 1)
    middle = np.array([cols[0] + cols[-1] + 1, rows[0] + rows[-1] + 1]) / 2
    if part:
        return random_window(middle + rng.uniform(-0.3, 0.3, 2) * box, side / 2, rng, _TURN)
    middle = middle + rng.uniform(-0.45, 0.45, 2) * max(side - box, 0)
    return random_window(np.clip(middle, side / 2, whole - side / 2), side, rng, _TURN)


def cut(image: np.ndarray, window: Window, size: int, *, blend: bool = True) -> np.ndarray:
    """Cut a window from an image (height, width[, 3]) uint8 at `size` x `size` pixels; the border is mirrored.

    The position is exact to one pixel. If the result is coarser than the image, the image is first shrunk by a whole
    factor to avoid aliasing. `blend=False` takes the nearest pixel, for indices.
    """
    shrink = max(1, round(window.side / size))
    if shrink > 1:
        shrunk_by = cv2.INTER_AREA if blend else cv2.INTER_NEAREST
        image = cv2.resize(image, None, fx=1 / shrink, fy=1 / shrink, interpolation=shrunk_by)
    scale = window.side / size
    cos, sin = scale * np.cos(window.angle), scale * np.sin(window.angle)
    turn = np.array([[cos, -sin], [sin, cos]]) * (-1 if window.mirrored else 1, 1)
    to_image = np.column_stack([turn, window.centre - turn @ (size / 2, size / 2)]) / shrink
    flags = (cv2.INTER_LINEAR if blend else cv2.INTER_NEAREST) | cv2.WARP_INVERSE_MAP
    return cv2.warpAffine(image, to_image, (size, size), flags=flags, borderMode=cv2.BORDER_REFLECT)


def cut_with_mask(
    image: np.ndarray, mask: np.ndarray, window: Window, size: int, paint: float = 0.0, ground: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Cut a window, (size, size, 3) uint8, and its mask, (size, size) uint8, 0-255.

    `ground` (height, width, 3) replaces everything but the object; `paint` is the share of the mask, white on black,
    that is painted over.
    """
    seen = cut(mask.astype(np.uint8) * 255, window, size)
    share = seen[..., None].astype(np.float32) / 255
    view = cut(image, window, size)
    if ground is not None:
        view = share * view + (1 - share) * cut(ground, window, size)
    if paint:
        view = (1 - paint) * view + paint * 255 * share
    return view.astype(np.uint8), seen


def tinted(images: Sequence[np.ndarray], rng: np.random.Generator) -> Tensor:
    """Stack windows (size, size, 3) uint8 to (batch, 3, size, size) float 0-1, each channel lighter or darker."""
    gain = torch.from_numpy(rng.uniform(0.75 / 255, 1.25 / 255, (len(images), 3, 1, 1)).astype(np.float32))
    return torch.from_numpy(np.stack(images)).permute(0, 3, 1, 2).float().mul_(gain).clamp_(0, 1)
