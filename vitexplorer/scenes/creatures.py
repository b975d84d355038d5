"""Paper creatures: classes that are combinations of kinds of parts, and pictures from which each part can be taken.

After FunnyBirds (Hesse et al. 2023, arXiv 2308.06248): body, tail, pattern, wing and eye come in four kinds each, and
a class says which kind of each it has; colour, size, place, angle and light tell nothing. The twelve classes are words
of a code of which any two share two parts at most, so that any three parts tell the class; every kind is in three
classes. Scattered pieces of paper belong to no class. Without a part, or a piece, the picture is drawn again: its paper
and the shadow of it are gone, and no other pixel is different. Where FunnyBirds keeps the body, it can be taken here
too, and what was on it stays where it was.

A `Creature` is a `Parted` picture, what the part-based protocols of `vitexplorer.evaluation` are written against.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from vitexplorer.scenes.colours import Palette
from vitexplorer.scenes.paper import (
    cast_shadow,
    fill,
    light_of,
    light_up,
    loose_piece,
    paint_ground,
    paint_object,
    place,
)
from vitexplorer.scenes.shapes import Contour, ellipse
from vitexplorer.scenes.streams import generators

MOST_PIECES = 6
"""Most loose pieces of paper, which belong to no creature"""


def _drop() -> Contour:
    angle = np.linspace(0, 2 * np.pi, 56, endpoint=False)
    return np.stack([0.66 * np.cos(angle), 0.5 * np.sin(angle) * (1 - 0.42 * np.cos(angle))], 1)


def _pillow() -> Contour:
    angle = np.linspace(0, 2 * np.pi, 64, endpoint=False)
    cos, sin = np.cos(angle), np.sin(angle)
    return np.stack([0.58 * np.sign(cos) * np.abs(cos) ** 0.45, 0.42 * np.sign(sin) * np.abs(sin) ** 0.45], 1)


def _fan() -> Contour:
    angle = np.linspace(-0.72, 0.72, 41)
    edge = 0.6 + 0.05 * np.cos(4 * np.pi * angle / 0.72)
    arc = np.stack([edge * np.cos(angle), edge * np.sin(angle)], 1)
    return np.concatenate([np.zeros((1, 2)), arc]) + np.array([0.42, 0])


def _ribbon() -> Contour:
    t = np.linspace(0, 1, 30)
    middle = 0.17 * np.sin(2.6 * np.pi * t)
    band = [np.stack([0.75 * t, middle + side * 0.085], 1) for side in (-1, 1)]
    return np.concatenate([band[0], band[1][::-1]]) + np.array([0.4, 0])


def _club() -> Contour:
    angle = np.linspace(-0.9 * np.pi, 0.9 * np.pi, 30)
    ball = np.stack([0.46 + 0.2 * np.cos(angle), 0.2 * np.sin(angle)], 1)
    return np.concatenate([[(0.0, 0.06), (0.0, -0.06)], ball]) + np.array([0.45, 0])


_RAISED = np.array([[0.5, -0.87], [0.87, 0.5]])  # a wing's own x axis points up and back
_SHOULDER = np.array([0.02, -0.14])


def _wing(contour: Contour) -> Contour:
    return contour @ _RAISED + _SHOULDER


def _leaf() -> Contour:
    t = np.linspace(0, 1, 24)
    upper = np.stack([0.86 * t - 0.08, -0.25 * np.sin(np.pi * t**0.7)], 1)
    return _wing(np.concatenate([upper, (upper * (1, -1))[::-1]]))


def _scalloped() -> Contour:
    t = np.linspace(0, 1, 46)
    upper = np.stack([0.8 * t - 0.08, -0.3 * np.sin(np.pi * t) ** 0.6], 1)
    lower = np.stack([0.8 * t - 0.08, 0.04 + 0.2 * np.abs(np.sin(3 * np.pi * t))], 1)
    return _wing(np.concatenate([upper, lower[::-1]]))


def _twin() -> Contour:
    angle = np.linspace(-np.pi / 2, np.pi / 2, 60)
    radius = 0.84 * np.abs(np.sin(2 * angle)) ** 0.6 + 0.05
    return _wing(np.stack([radius * np.cos(angle), 0.8 * radius * np.sin(angle)], 1))


_EYE = np.array([-0.33, -0.1])


def _half() -> Contour:
    angle = np.linspace(0, np.pi, 24)
    return np.stack([0.19 * np.cos(angle), 0.19 * np.sin(angle) - 0.08], 1) + _EYE


def _spark() -> Contour:
    angle = np.arange(8) * np.pi / 4
    radius = np.where(np.arange(8) % 2 == 0, 0.23, 0.075)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1) + _EYE


def _bars() -> list[Contour]:
    bar = np.array([(-0.035, -1), (0.035, -1), (0.035, 1), (-0.035, 1)])
    return [bar * (1, height) + (x, 0.14) for x, height in ((-0.1, 0.15), (0.05, 0.17), (0.2, 0.13))]


def _spots() -> list[Contour]:
    places = ((-0.12, 0.08), (0.04, 0.02), (0.22, 0.08), (-0.03, 0.22), (0.14, 0.22))
    return [ellipse(0.062, 0.062, x, y, 20) for x, y in places]


def _zigzag() -> list[Contour]:
    x = np.linspace(-0.2, 0.3, 7)
    y = 0.14 + 0.09 * (-1.0) ** np.arange(7)
    return [np.concatenate([np.stack([x, y - 0.045], 1), np.stack([x, y + 0.045], 1)[::-1]])]


_FORK = np.array([(0, -0.09), (0.68, -0.46), (0.34, 0), (0.68, 0.46), (0, 0.09)]) + np.array([0.42, 0])
_DIAMOND = np.array([(-0.2, 0.12), (0.05, -0.03), (0.3, 0.12), (0.05, 0.27)])
PARTS: dict[str, dict[str, list[Contour]]] = {
    "tail": {"fan": [_fan()], "fork": [_FORK], "ribbon": [_ribbon()], "club": [_club()]},
    "body": {"round": [ellipse(0.56, 0.52)], "long": [ellipse(0.74, 0.36)], "drop": [_drop()], "pillow": [_pillow()]},
    "pattern": {"bars": _bars(), "spots": _spots(), "zigzag": _zigzag(), "diamond": [_DIAMOND]},
    "wing": {
        "oval": [_wing(ellipse(0.42, 0.24, 0.36))],
        "leaf": [_leaf()],
        "scalloped": [_scalloped()],
        "twin": [_twin()],
    },
    "eye": {
        "disc": [ellipse(0.15, 0.15, *_EYE, 24)],
        "ring": [ellipse(0.18, 0.18, *_EYE, 28), ellipse(0.1, 0.1, *_EYE, 20)],
        "half": [_half()],
        "spark": [_spark()],
    },
}
"""Part -> kind -> its contours about the middle of a creature that faces left; painted in this order"""
_ON_THE_BODY = ("pattern", "eye")  # glued flat: no shadow
_WORDS = ("00222", "01103", "02023", "12030", "13200", "13311", "20312", "21033", "23101", "30210", "31131", "32322")
CLASSES: tuple[Mapping[str, str], ...] = tuple(
    {part: list(kinds)[int(kind)] for (part, kinds), kind in zip(PARTS.items(), word, strict=True)} for word in _WORDS
)
"""Kind of each part, by class"""
_WORDS_FOR = {
    "bars": ("barred", "条纹"),
    "spots": ("spotted", "斑点"),
    "zigzag": ("zigzag", "锯齿"),
    "diamond": ("diamond", "菱纹"),
    "round": ("round", "圆身"),
    "long": ("long", "长身"),
    "drop": ("drop", "滴身"),
    "pillow": ("square", "方身"),
    "fan": ("fantail", "扇尾"),
    "fork": ("forktail", "叉尾"),
    "ribbon": ("ribbontail", "带尾"),
    "club": ("clubtail", "锤尾"),
}
_NAMED = [[_WORDS_FOR[parts[part]] for part in ("pattern", "body", "tail")] for parts in CLASSES]
CLASS_NAMES = tuple(" ".join(english for english, _ in words) for words in _NAMED)
"""Pattern, body and tail of each class; any three parts identify it"""
CLASS_NAMES_ZH = tuple("".join(chinese for _, chinese in words) for words in _NAMED)


@dataclass(frozen=True)
class Layer:
    """One piece of paper, ready to be painted."""

    outline: list[Contour]
    centre: np.ndarray
    paint: np.random.Generator
    """Generator of its colour and texture"""
    shadow: bool


@dataclass(frozen=True)
class Creature:
    """Creature number `index` of a stream ("train", "validation", "test", "examples") at `size` x `size` pixels.

    Raises:
        ValueError: no such stream, when it is first drawn.
    """

    stream: str
    index: int
    size: int = 192

    @property
    def label(self) -> int:
        """Index into `CLASSES`."""
        return int(self._generators()[0].integers(len(CLASSES)))

    @property
    def classes(self) -> tuple[Mapping[str, str], ...]:
        """Kind of each part, by class."""
        return CLASSES

    @property
    def background(self) -> tuple[str, ...]:
        """Names of the loose pieces: "piece 1", "piece 2", ..."""
        return tuple(name for name in self._layers() if name not in PARTS)

    def render(self, without: Collection[str] = ()) -> np.ndarray:
        """Render (size, size, 3) uint8 RGB, without some parts or pieces and their shadows.

        Raises:
            ValueError: no such part or piece.
        """
        layers = self._layers()
        if unknown := set(without) - set(layers):
            raise ValueError(f"This creature has no {', '.join(sorted(unknown))}. It has: {', '.join(layers)}.")
        world, ground, air = self._generators()[:3]
        world.integers(len(CLASSES))
        palette, light = Palette(world), light_of(world)
        canvas = paint_ground(ground, palette, self.size)
        for name, layer in layers.items():
            if name not in without:
                alpha = fill(layer.outline, self.size)
                if layer.shadow:
                    cast_shadow(canvas, alpha, light)
                paint_object(canvas, layer.paint, alpha, [], layer.centre, palette, light)
        return light_up(canvas, air, light)

    def masks(self, without: Collection[str] = ()) -> dict[str, np.ndarray]:
        """Name of part or piece -> (size, size) bool, where its paper is seen; no two overlap.

        Those of `without` are not there and hide nothing.
        """
        seen, covered = {}, np.zeros((self.size, self.size), bool)
        for name, layer in reversed(self._layers().items()):
            if name in without:
                continue
            paper = fill(layer.outline, self.size) > 127
            seen[name] = paper & ~covered
            covered |= paper
        return dict(reversed(seen.items()))

    def _generators(self) -> list[np.random.Generator]:
        """Make fresh generators of the world, the ground, the air, the places, each part and each piece."""
        return generators(self.stream, self.index, 4 + len(PARTS) + MOST_PIECES, "creature")

    def _layers(self) -> dict[str, Layer]:
        """List the pieces of paper by name, from the ground up."""
        _, _, _, where, *papers = self._generators()
        own, loose = dict(zip(PARTS, papers, strict=False)), papers[len(PARTS) :]
        layers: dict[str, Layer] = {}
        for number in range(int(where.integers(3, MOST_PIECES + 1))):
            outline = loose_piece(loose[number])
            layers[f"piece {number + 1}"] = Layer([outline], outline.mean(0), loose[number], True)
        radius = where.uniform(0.3, 0.4)
        centre = where.uniform(0.95 * radius, 1 - 0.95 * radius, 2)
        angle, stretch, mirror = where.uniform(-0.5, 0.5), where.uniform(0.94, 1.06), where.choice([-1.0, 1.0])
        for part, kind in CLASSES[self.label].items():
            contours = [contour * (mirror, 1.0) for contour in PARTS[part][kind]]
            outline = [place(contour, radius, centre, angle, stretch) for contour in contours]
            middle = np.concatenate(outline).mean(0)
            layers[part] = Layer(outline, middle, own[part], part not in _ON_THE_BODY)
        return layers
