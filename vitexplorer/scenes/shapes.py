"""Outlines of the twelve classes of objects, distinct at every rotation.

An outline is a list of closed contours in the unit disc (x to the right, y down), filled by the even-odd rule, so that
a contour inside another one is a hole. A shape may carry details, contours painted in a second colour on top of it
(the eye of a fish, the heart of a flower). Every function draws a different specimen at each call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Contour = np.ndarray
"""(points, 2) float, x and y"""


@dataclass(frozen=True)
class Shape:
    """One specimen: its outline and what is painted on it."""

    outline: list[Contour]
    details: list[Contour]


def ellipse(rx: float, ry: float, x: float = 0.0, y: float = 0.0, points: int = 48) -> Contour:
    """Draw an ellipse of these radii about (x, y)."""
    angle = np.linspace(0, 2 * np.pi, points, endpoint=False)
    return np.stack([x + rx * np.cos(angle), y + ry * np.sin(angle)], 1)


def _circle(radius: float = 1.0, x: float = 0.0, y: float = 0.0, points: int = 48) -> Contour:
    return ellipse(radius, radius, x, y, points)


def _polar(angle: np.ndarray, radius: np.ndarray | float) -> Contour:
    return np.stack([radius * np.sin(angle), -radius * np.cos(angle)], 1)


def _polygon(*corners: tuple[float, float]) -> Contour:
    return np.array(corners, float)


def _rounded(corners: Contour, share: float) -> Contour:
    """Round corners by quadratic curves that start at `share` of each edge."""
    before, after = np.roll(corners, 1, 0), np.roll(corners, -1, 0)
    start, end = corners + share * (before - corners), corners + share * (after - corners)
    t = np.linspace(0, 1, 6)[None, :, None]
    curve = (1 - t) ** 2 * start[:, None] + 2 * t * (1 - t) * corners[:, None] + t**2 * end[:, None]
    return curve.reshape(-1, 2)


def ring(rng: np.random.Generator) -> Shape:
    """Draw a wide or a narrow ring."""
    return Shape([_circle(), _circle(rng.uniform(0.45, 0.66))], [])


def triangle(rng: np.random.Generator) -> Shape:
    """Draw a nearly equilateral triangle, sharp or rounded."""
    angle = np.array([0, 2 * np.pi / 3, 4 * np.pi / 3]) + rng.uniform(-0.16, 0.16, 3)
    return Shape([_rounded(_polar(angle, 1.0), rng.uniform(0.02, 0.16))], [])


def square(rng: np.random.Generator) -> Shape:
    """Draw a square or a slightly longer rectangle, sharp or rounded."""
    x, y = 0.78, 0.78 * rng.uniform(0.8, 1.0)
    corners = _polygon((-x, -y), (x, -y), (x, y), (-x, y))
    return Shape([_rounded(corners, rng.uniform(0.02, 0.14))], [])


def star(rng: np.random.Generator) -> Shape:
    """Draw a star of five or six points."""
    points = int(rng.integers(5, 7))
    angle = np.arange(2 * points) * np.pi / points
    radius = np.where(np.arange(2 * points) % 2 == 0, 1.0, rng.uniform(0.38, 0.5))
    return Shape([_rounded(_polar(angle, radius), rng.uniform(0.01, 0.1))], [])


def cross(rng: np.random.Generator) -> Shape:
    """Draw a cross of four equal arms."""
    a = rng.uniform(0.24, 0.36)
    arm = [(-a, -0.95), (a, -0.95), (a, -a), (0.95, -a), (0.95, a), (a, a)]
    corners = _polygon(*arm, *[(-x, -y) for x, y in arm])
    return Shape([_rounded(corners, rng.uniform(0.02, 0.12))], [])


def heart(rng: np.random.Generator) -> Shape:
    """Draw the usual trigonometric heart, wide or narrow."""
    t = np.linspace(0, 2 * np.pi, 56, endpoint=False)
    x = 16 * np.sin(t) ** 3 / 17
    y = -(13 * np.cos(t) - 5 * np.cos(2 * t) - 2 * np.cos(3 * t) - np.cos(4 * t)) / 17
    return Shape([np.stack([x * rng.uniform(0.9, 1.02), y - 0.12], 1)], [])


def crescent(rng: np.random.Generator) -> Shape:
    """Draw a moon between two circles that meet at its horns."""
    horn = rng.uniform(2.0, 2.5)  # half the angle of the outer arc, from the middle of its back
    outer = np.linspace(-horn, horn, 40)
    tip_x, tip_y = -np.cos(horn), np.sin(horn)
    depth = rng.uniform(-0.5, -0.2)  # x of the inner arc's deepest point
    centre = (tip_x**2 + tip_y**2 - depth**2) / (2 * (tip_x - depth))
    radius = centre - depth
    half = np.arctan2(tip_y, centre - tip_x)
    inner = np.linspace(half, -half, 32)
    back = np.stack([-np.cos(outer), np.sin(outer)], 1)
    front = np.stack([centre - radius * np.cos(inner), radius * np.sin(inner)], 1)
    moon = np.concatenate([back, front[1:-1]])
    return Shape([moon + np.array([0.25, 0.0])], [])


def arrow(rng: np.random.Generator) -> Shape:
    """Draw an arrow: a shaft and a head."""
    shaft, head, neck = rng.uniform(0.17, 0.27), rng.uniform(0.6, 0.76), rng.uniform(-0.2, 0.08)
    corners = [(0, -1), (head, neck), (shaft, neck), (shaft, 1), (-shaft, 1), (-shaft, neck), (-head, neck)]
    return Shape([_rounded(_polygon(*corners), rng.uniform(0.01, 0.08))], [])


def gear(rng: np.random.Generator) -> Shape:
    """Draw a gear of eight to ten teeth with a hole."""
    teeth = int(rng.integers(8, 11))
    root = rng.uniform(0.7, 0.76)
    radius = np.tile([root, 1.0, 1.0, root], teeth)
    offset = np.tile([-0.29, -0.19, 0.19, 0.29], teeth) * 2 * np.pi / teeth
    angle = np.repeat(np.arange(teeth), 4) * 2 * np.pi / teeth + offset
    return Shape([_polar(angle, radius), _circle(rng.uniform(0.24, 0.36))], [])


def flower(rng: np.random.Generator) -> Shape:
    """Draw five to seven round petals about a heart of another colour."""
    petals = int(rng.integers(5, 8))
    angle = np.linspace(0, 2 * np.pi, 16 * petals, endpoint=False)
    inner = rng.uniform(0.46, 0.56)
    radius = inner + (1 - inner) * np.abs(np.cos(petals * angle / 2)) ** 0.7
    return Shape([_polar(angle, radius)], [_circle(rng.uniform(0.22, 0.3), points=24)])


def fish(rng: np.random.Generator) -> Shape:
    """Draw a fish: a body with a forked tail, a fin and an eye."""
    height, tail = rng.uniform(0.42, 0.54), rng.uniform(0.38, 0.52)
    t = np.linspace(0, 1, 20)
    top = np.stack([-1 + 1.45 * t, -height * np.sin(np.pi * t**0.8) - 0.1 * t], 1)
    fork = _polygon((1.0, -tail), (0.8, 0.0), (1.0, tail))
    bottom = (top * (1, -1))[::-1]
    return Shape([np.concatenate([top, fork, bottom])], [_circle(0.09, -0.62, -0.1, 16)])


def mug(rng: np.random.Generator) -> Shape:
    """Draw a tapered cup with a handle and a band."""
    top, foot = 0.62, rng.uniform(0.46, 0.58)
    cup = _rounded(_polygon((-top, -0.8), (top, -0.8), (foot, 0.8), (-foot, 0.8)), 0.07) - (0.22, 0.0)
    reach = rng.uniform(0.44, 0.52)
    t = np.linspace(-np.pi / 2, np.pi / 2, 18)
    edge, height = top - 0.22 - (top - foot) / 2, rng.uniform(0.44, 0.52)  # the cup's side at half its height
    slant = (top - foot) / 1.6  # the side comes in by this much for one unit down
    outer = np.stack([edge + (reach + 0.1) * np.cos(t), height * np.sin(t)], 1)
    inner = np.stack([edge + (reach - 0.13) * np.cos(t), (height - 0.19) * np.sin(t)], 1)
    handle = np.concatenate([outer, inner[::-1]])
    handle[:, 0] -= slant * handle[:, 1] + 0.01  # ends lie a hair inside the side, so that no gap shows
    y, width = rng.uniform(-0.5, 0.2), 0.97 * top
    left, right = (-width + slant * (y + 0.8) - 0.22, width - slant * (y + 0.8) - 0.22)
    band = _polygon((left, y), (right, y), (right, y + 0.22), (left, y + 0.22))
    return Shape([cup, handle], [band])


SHAPES: dict[str, Callable[[np.random.Generator], Shape]] = {
    draw.__name__: draw
    for draw in (ring, triangle, square, star, cross, heart, crescent, arrow, gear, flower, fish, mug)
}
LABEL_NAMES = tuple(SHAPES)
LABEL_NAMES_ZH = ("圆环", "三角形", "方形", "星形", "十字", "爱心", "月牙", "箭头", "齿轮", "花", "鱼", "杯子")


def blob(rng: np.random.Generator, lobes: int = 4) -> Contour:
    """Draw an irregular closed curve that is none of the classes."""
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    order = np.arange(1, lobes + 1)
    amplitude = rng.uniform(0.1, 0.3, lobes) / order**0.7
    wave = amplitude @ np.cos(order[:, None] * angle + rng.uniform(0, 2 * np.pi, (lobes, 1)))
    radius = np.clip(0.7 + wave, 0.2, 1.0)
    return _polar(angle, radius) * (1.0, rng.uniform(0.4, 0.75))


def stroke(rng: np.random.Generator, width: float) -> Contour:
    """Draw a brush stroke from x = -1 to 1 with round ends, never curved enough to be a ring or a crescent."""
    t = np.linspace(-1, 1, 14)
    bend, twist = rng.uniform(-0.35, 0.35), rng.uniform(-0.25, 0.25)
    line = np.stack([t, bend * t**2 + twist * t**3], 1)
    along = np.stack([np.ones_like(t), 2 * bend * t + 3 * twist * t**2], 1)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    across = along[:, ::-1] * (-1, 1)
    turn = np.linspace(0, np.pi, 7)[1:-1, None]
    end = line[-1] + width * (across[-1] * np.cos(turn) + along[-1] * np.sin(turn))
    start = line[0] - width * (across[0] * np.cos(turn) + along[0] * np.sin(turn))
    return np.concatenate([line + width * across, end, (line - width * across)[::-1], start])
