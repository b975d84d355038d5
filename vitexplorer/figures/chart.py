"""Chart on the page: frame, ticks with round numbers, and the place of each point in pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vitexplorer.core.text import Text, same
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.meanings import line_number
from vitexplorer.figures.page import Page

AXES = {
    "blocks": Text("block (counted from 0)", "块（从 0 开始编号）"),
    "heads": Text("head (counted from 0)", "头（从 0 开始编号）"),
    "tokens": Text("token (prefix tokens first)", "标记（前缀标记在前）"),
}
LINES = {
    "light": (
        *("#31688e", "#c2410c", "#2f7d63", "#8a5a9e", "#a23b5c", "#7d6c14"),
        *("#2b7484", "#16191d", "#4f46e5", "#c0178f", "#5b7c00", "#7a4a2b"),
    ),
    "dark": (
        *("#6aaed6", "#fb923c", "#5fc9a3", "#c59bdb", "#f08bab", "#d9c455"),
        *("#67c3d4", "#f2f4f6", "#a5a0ff", "#ff8ad8", "#b5e04a", "#d0a37c"),
    ),
}
DASHES = ("solid", "dash", "dashdot", "longdash")
SYMBOLS = (
    *("circle", "square", "diamond", "triangle-up", "cross", "star"),
    *("triangle-down", "x", "pentagon", "hexagram", "triangle-left", "hourglass"),
)
LEFT, ABOVE, BELOW = 62, 30, 50
"""Pixels for the numbers of the vertical axis, its title over it, and the horizontal axis under it"""


def axis_text(axis: str) -> Text:
    """Return an axis of the glossary in words for readers."""
    return AXES.get(axis, same(axis))


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return round numbers in [low, high], 1, 2 or 5 times a power of ten apart."""
    if not high > low:
        return [low]
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step for step in (1, 2, 5, 10) if step * power >= rough * 0.999) * power
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(n * step, 12) for n in range(first, last + 1)]


class Chart(NamedTuple):
    """Box of the page that shows x in [left, right] and y in [bottom, top]."""

    box: Box
    across: tuple[float, float]
    up: tuple[float, float]

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the place of a point on the page."""
        (left, right), (bottom, top) = self.across, self.up
        return (
            self.box.x + (x - left) / ((right - left) or 1) * self.box.width,
            self.box.bottom - (y - bottom) / ((top - bottom) or 1) * self.box.height,
        )

    def frame(self, page: Page, x_name: Text, y_name: Text, whole: bool = False) -> None:
        """Draw grid lines, numbers and the names of both axes; `whole` if x counts things."""
        self.lines_up(page)
        bottom = self.box.bottom
        for value in ticks(*self.across, about=12 if whole else 5):
            if not whole or float(value).is_integer():
                x = self.at(value, 0)[0]
                page.line((x, bottom), (x, bottom + 5), page.theme.muted)
                page.small(x, bottom + 7, f"{value:g}".replace("-", "−"), muted=True, anchor="center")
        self.names(page, x_name, y_name)

    def lines_up(self, page: Page) -> None:
        """Draw the grid lines of y with their numbers."""
        box = self.box
        for value in ticks(*self.up):
            y = self.at(0, value)[1]
            page.line((box.x, y), (box.right, y))
            number_text = f"{value:g}".replace("-", "−")
            page.small(box.x - 8, y, number_text, muted=True, anchor="right", vertical="middle")

    def names(self, page: Page, x_name: Text, y_name: Text) -> None:
        """Draw the axis of x and the names of both."""
        box = self.box
        page.line((box.x, box.bottom), (box.right, box.bottom), page.theme.muted)
        page.small(box.centre[0], box.bottom + 26, x_name, anchor="center")
        page.small(box.x - LEFT + 8, box.y - ABOVE, y_name)

    def curve(self, page: Page, x: Sequence[float], y: Sequence[float], style: Style, name: Text) -> None:
        """Draw one line with its symbols."""
        label = name.in_(page.language)
        words = [f"{label}: {px:.4g}, {py:.4g}" for px, py in zip(x, y, strict=True)]
        points = [self.at(px, py) for px, py in zip(x, y, strict=True)]
        page.curve(points, style.color, words=words, dash=style.dash, symbol=style.symbol)


class Style(NamedTuple):
    """Style of a line: its colour, dashes and symbol."""

    color: str
    dash: str
    symbol: str

    def sample(self, page: Page, x: float, y: float) -> None:
        """Draw a short piece for a legend, 44 pixels wide, around height y."""
        page.curve([(x, y), (x + 22, y), (x + 44, y)], self.color, dash=self.dash, symbol=self.symbol)


def style_of(page: Page, number: int) -> Style:
    """Return the style of the n-th line on a page."""
    return numbered_style(number, page.theme.name)


def style_for(page: Page, key: str, otherwise: int) -> Style:
    """Return the style of a method or a reading, equal on every page; the n-th style for other keys."""
    number = line_number(key)
    return style_of(page, otherwise if number is None else number)


def numbered_style(number: int, theme: str) -> Style:
    """Return the style of the n-th line; the first twelve differ in colour and symbol, those beyond in dashes."""
    turn, place = divmod(number, len(SYMBOLS))
    return Style(LINES[theme][place], DASHES[turn % len(DASHES)], SYMBOLS[place])


def span(values: np.ndarray, *, from_zero: bool = True) -> tuple[float, float]:
    """Return a range for an axis: all finite values, by default also zero, out to the next ticks; never empty."""
    finite = values[np.isfinite(values)].astype(float)
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if from_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if not high > low:
        return low - 0.5, low + 0.5
    if not from_zero:
        return low, high
    inside = ticks(low, high)
    step = inside[1] - inside[0]
    return math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
