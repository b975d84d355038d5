"""Colours that go together: hues and lightness in OKLCH, where equal numbers look equally far apart.

Björn Ottosson's OKLab (https://bottosson.github.io/posts/oklab/).
"""

from __future__ import annotations

import numpy as np

_LAB_TO_LMS = np.array(
    [[1, 0.3963377774, 0.2158037573], [1, -0.1055613458, -0.0638541728], [1, -0.0894841775, -1.2914855480]]
)
_LMS_TO_RGB = np.array(
    [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
)


def oklch(lightness: float, chroma: float, hue: float) -> np.ndarray:
    """Convert lightness 0-1, chroma 0-0.3 and hue in radians to sRGB, (3,) float32 in 0-255, clipped to the gamut."""
    lab = np.array([lightness, chroma * np.cos(hue), chroma * np.sin(hue)])
    linear = np.clip(_LMS_TO_RGB @ (_LAB_TO_LMS @ lab) ** 3, 0, 1)
    encoded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return (255 * encoded).astype(np.float32)


class Palette:
    """The colours of one scene: a quiet ground, and things that stand out from it.

    Objects and distractors take their colours from the same law, so that a colour tells neither the class nor which of
    the things is the object.
    """

    def __init__(self, rng: np.random.Generator, most_chroma: float = 0.08):
        """Draw the two colours of the ground; `most_chroma` is the largest chroma of the first."""
        self.lightness = rng.uniform(0.3, 0.9)
        self.hue = rng.uniform(0, 2 * np.pi)
        chroma = rng.uniform(0.01, most_chroma)
        step = rng.uniform(0.05, 0.13) * rng.choice([-1, 1])
        self.ground = (
            oklch(self.lightness, chroma, self.hue),
            oklch(
                np.clip(self.lightness + step, 0.2, 0.96), chroma * rng.uniform(0.5, 1.6), self.hue + rng.normal(0, 0.5)
            ),
        )

    def thing(self, rng: np.random.Generator) -> np.ndarray:
        """Draw a colour, (3,), at least 0.16 lighter or darker than the ground, of any hue."""
        darker, lighter = self.lightness - 0.16, self.lightness + 0.16
        room = (max(darker - 0.2, 0), max(0.97 - lighter, 0))
        if rng.uniform() * sum(room) < room[0]:
            lightness = rng.uniform(0.2, darker)
        else:
            lightness = rng.uniform(lighter, 0.97)
        return oklch(lightness, rng.uniform(0.02, 0.17) * (1.1 - abs(lightness - 0.6)), rng.uniform(0, 2 * np.pi))
