"""Colour maps for numbers: 256-entry tables, perceptually uniform and safe for colour-blind readers.

In all sequential tables brighter means more. `ice_inferno` is for signed maps: the brighter, the larger the magnitude;
positive values have the colours of inferno, negative ones are blue, and zero is black. `balance` is pale at zero and
dark at both ends. The anchors are plotly's own, interpolated in RGB.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

import numpy as np
from PIL import Image
from PIL.ImageColor import getrgb
from plotly.colors import cmocean, sequential

from vitexplorer.core.format import measured
from vitexplorer.core.registry import unknown_name
from vitexplorer.core.text import Text
from vitexplorer.figures.scaling import is_signed, largest, scale_end, typical_largest

ANCHORS = {
    "viridis": sequential.Viridis,
    "cividis": sequential.Cividis,
    "magma": sequential.Magma,
    "inferno": sequential.Inferno,
    "greys": sequential.Greys[::-1],  # black to white: plotly's own goes the other way
    "balance": cmocean.balance,
    "ice_inferno": [*cmocean.ice[:0:-1][:9], *sequential.Inferno],  # its upper half is inferno, dark in the middle
}
ENTRIES = 256
NO_BREAK_SPACE = "\u00a0"
EASE = 0.7
"""Exponent of the opacity over a picture: below 1, half of the largest value is more than half as strong"""
UNSIGNED, SIGNED = "inferno", "ice_inferno"
"""Colour maps of every map, on the canvas too: zero is black, the strongest is the brightest"""
Stops = tuple[tuple[float, str], ...]
"""Table in plotly's form: places in 0-1 and their colours"""


@cache
def lookup_table(name: str) -> np.ndarray:
    """Return uint8 (256, 3) from the lowest to the highest value. Raises UnknownNameError."""
    if name not in ANCHORS:
        raise unknown_name("colour map", name, ANCHORS)
    anchors = np.array([getrgb(color) for color in ANCHORS[name]])
    entries, at = np.linspace(0, 1, ENTRIES), np.linspace(0, 1, len(anchors))
    table = np.stack([np.interp(entries, at, channel) for channel in anchors.T], axis=-1).round().astype(np.uint8)
    table.flags.writeable = False
    return table


def directed(how: Text, name: str) -> Text:
    """Return how numbers are painted, and the direction of the table, for captions."""
    return Text("{how}; {direction}", "{how}；{direction}").format(how=how, direction=direction(name))


def direction(name: str) -> Text:
    """Return the direction of the table, for captions."""
    if name == "balance":
        return Text("blue is negative, red positive", "蓝色为负，红色为正")
    if name == SIGNED:
        return Text("brighter is stronger: blue is negative", "越亮表示绝对值越大，蓝色为负")
    return Text("brighter is more", "越亮表示值越大")


@dataclass(frozen=True)
class Scale:
    """Scale from numbers to colours: `low` gets the first entry of the table, `high` the last."""

    colormap: str
    low: float
    high: float
    below: int = 0
    """Number of values below `low`, which have its colour"""
    above: int = 0
    """Number of values above `high`"""

    @property
    def goes_on(self) -> bool:
        """True if values lie beyond an end."""
        return self.below + self.above > 0

    def outside(self, values: np.ndarray) -> np.ndarray:
        """Return a mask of the finite values beyond the ends."""
        return np.isfinite(values) & ((values < self.low) | (values > self.high))

    def over(self, values: np.ndarray) -> Scale:
        """Return the same scale with the number of these values beyond its ends."""
        finite = values[np.isfinite(values)]
        return replace(self, below=int((finite < self.low).sum()), above=int((finite > self.high).sum()))

    @property
    def stops(self) -> Stops:
        """Return the table for use without a picture below."""
        return _opaque(self.colormap)

    @property
    def ticks(self) -> dict[str, Any]:
        """Ticks of its bar: plotly's own, or five with signs at the ends beyond which values lie.

        Each ends with a space, because plotly sets the bar's title 2 pixels from them.
        """
        if not self.goes_on:
            return {"ticksuffix": NO_BREAK_SPACE}
        places = np.linspace(self.low, self.high, 5)
        labels = [measured(place) for place in places]
        labels[0] = f"≤ {labels[0]}" if self.below else labels[0]
        labels[-1] = f"≥ {labels[-1]}" if self.above else labels[-1]
        return {
            "tickmode": "array",
            "tickvals": places.tolist(),
            "ticktext": [label + NO_BREAK_SPACE for label in labels],
        }

    def text_color(self, value: float) -> str:
        """Return black for text on a bright cell, white on a dark one."""
        share = (value - self.low) / (self.high - self.low)
        red, green, blue = (lookup_table(self.colormap)[round(255 * share)] / 255) ** 2.2
        return "#000000" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 else "#ffffff"

    def over_a_picture(self, opacity: float) -> Stops:
        """Return the table for use over a picture: zero is transparent, so that it tints no photograph."""
        return _eased(self.colormap, self.low, self.high, opacity)


@cache
def _opaque(colormap: str) -> Stops:
    return tuple(
        (i / (ENTRIES - 1), f"rgb({r},{g},{b})") for i, (r, g, b) in enumerate(lookup_table(colormap).tolist())
    )


@lru_cache(maxsize=16)  # a figure is laid out several times with the same scales
def _eased(colormap: str, low: float, high: float, opacity: float) -> Stops:
    strengths = (np.abs(np.linspace(low, high, ENTRIES)) / max(abs(low), abs(high))) ** EASE
    return tuple(
        (i / (ENTRIES - 1), f"rgba({r},{g},{b},{opacity * strength:.4f})")
        for i, ((r, g, b), strength) in enumerate(zip(lookup_table(colormap).tolist(), strengths.tolist(), strict=True))
    )


def scale_of(values: np.ndarray, colormap: str | None) -> Scale:
    """Return the scale of a map: from 0 to its maximum, or symmetric about 0 if values are negative.

    NaN and infinities are ignored. `colormap` None takes `UNSIGNED`, and `SIGNED` for signed values.
    """
    return _scale(is_signed(values), colormap, largest(values))


def map_scale(values: np.ndarray, colormap: str | None) -> Scale:
    """Return the scale of a map of evidence: of a signed one it may end before the largest value, see `scale_end`.

    Several maps on one scale are passed together: equal colours still mean equal values up to its ends, and only
    patches that outlie all maps lie beyond. Quantities with bounds of their own (shares of attention, probabilities,
    cosines) keep `scale_of`: their largest values are the ones to compare with.
    """
    return _scale(is_signed(values), colormap, scale_end(values)).over(values)


def _scale(signed: bool, colormap: str | None, end: float) -> Scale:
    colormap = colormap or (SIGNED if signed else UNSIGNED)
    lookup_table(colormap)  # raises for an unknown name before anything is drawn
    return Scale(colormap, -(end or 1.0) if signed else 0.0, end or 1.0)


def grey_of(pixels: np.ndarray) -> np.ndarray:
    """Return uint8 (height, width, 3) in grey: the luma of ITU-R BT.601, as on the canvas."""
    return np.asarray(Image.fromarray(pixels).convert("L").convert("RGB"))


def signed_scale(values: np.ndarray) -> Scale:
    """Return the scale of a difference, with zero in its middle even if no value is negative, see `map_scale`."""
    return _scale(True, SIGNED, typical_largest(values)).over(values)
