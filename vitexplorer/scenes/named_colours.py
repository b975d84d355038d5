"""Eleven colours with names, each a range of OKLCH; no two ranges touch (Berlin and Kay 1969, the basic colour terms).

Between any two lies more than the lamp and the grain of the paper change, so that a colour has one name.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitexplorer.scenes.colours import Palette, oklch


@dataclass(frozen=True)
class NamedColour:
    """Ranges of lightness, chroma and hue in degrees."""

    lightness: tuple[float, float]
    chroma: tuple[float, float]
    hue: tuple[float, float]

    @property
    def middle(self) -> np.ndarray:
        """The middle of the ranges as sRGB, (3,) float32 in 0-255."""
        return oklch(np.mean(self.lightness), np.mean(self.chroma), np.radians(np.mean(self.hue)))

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Draw a colour of this name, sRGB, (3,) float32 in 0-255."""
        return oklch(rng.uniform(*self.lightness), rng.uniform(*self.chroma), np.radians(rng.uniform(*self.hue)))


NAMED_COLOURS = {
    "red": NamedColour((0.52, 0.60), (0.19, 0.23), (22, 30)),
    "orange": NamedColour((0.71, 0.77), (0.15, 0.18), (54, 64)),
    "yellow": NamedColour((0.87, 0.92), (0.15, 0.18), (98, 108)),
    "green": NamedColour((0.55, 0.70), (0.14, 0.19), (140, 152)),
    "blue": NamedColour((0.46, 0.58), (0.14, 0.19), (252, 264)),
    "purple": NamedColour((0.42, 0.52), (0.15, 0.20), (302, 316)),
    "pink": NamedColour((0.76, 0.83), (0.10, 0.14), (350, 364)),
    "brown": NamedColour((0.36, 0.44), (0.06, 0.085), (50, 62)),
    "black": NamedColour((0.10, 0.18), (0.0, 0.008), (0, 360)),
    "grey": NamedColour((0.56, 0.64), (0.0, 0.008), (0, 360)),
    "white": NamedColour((0.96, 0.99), (0.0, 0.006), (0, 360)),
}
CONTRAST = 55.0
"""Least distance of a thing's colour from both colours of the ground, in sRGB of 0-255"""
QUIET = 0.045
"""Largest chroma of ground and clutter, which have no name of a colour"""


class QuietPalette(Palette):
    """Palette of a scene whose ground and clutter are pale, so that only its objects have a named colour."""

    def __init__(self, rng: np.random.Generator):
        super().__init__(rng, QUIET)

    def thing(self, rng: np.random.Generator) -> np.ndarray:
        """Draw a colour of the clutter, (3,): a little lighter or darker than the ground, hardly coloured."""
        step = rng.uniform(0.08, 0.18) * rng.choice([-1, 1])
        lightness = self.lightness + step
        if not 0.2 < lightness < 0.95:
            lightness = self.lightness - step
        return oklch(lightness, rng.uniform(0.01, QUIET), self.hue + rng.normal(0, 0.6))

    def visible(self) -> list[int]:
        """Return the numbers of the named colours that stand out from the ground."""
        grounds = np.stack(self.ground)
        return [
            number
            for number, colour in enumerate(NAMED_COLOURS.values())
            if np.linalg.norm(grounds - colour.middle, axis=1).min() > CONTRAST
        ]


class OfOneColour(Palette):
    """Palette of a thing of one named colour."""

    def __init__(self, colour: NamedColour):
        self.colour = colour

    def thing(self, rng: np.random.Generator) -> np.ndarray:
        """Draw a colour of the name, (3,)."""
        return self.colour.draw(rng)
