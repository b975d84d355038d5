"""Numbers of two captures: a pair of bars for each."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.format import compact
from vitexplorer.core.text import Text
from vitexplorer.core.types import OUTPUT, PROBABILITY, SidesResult, value_text
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.captioned import caption_below
from vitexplorer.figures.chart import style_of
from vitexplorer.figures.page import Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.themes import SMALL_SIZE
from vitexplorer.figures.typesetting import width

STEP, COLUMN_GAP, NAME, BETWEEN, ROW_GAP = 58, 44, 21, 3, 12
"""Pixels of a row at least, between columns, of a row's name, between its bars, and below them"""
NONE = Text("none", "无")


def draw_sides(page: Page, result: SidesResult, y: float) -> float:
    """Draw a pair of bars for each number, with the numbers beside them, in two columns if there is room.

    The first place names the colours. Probabilities are drawn as shares of 1. In other rows the longer bar fills the
    room, since each has its own unit. Outputs may be negative; then both bars begin at zero.
    """
    colors = (page.theme.bar, style_of(page, 1).color)
    columns, wide = page.columns(2, COLUMN_GAP, 320)
    count = len(result.entries) + 1
    rows = -(-count // columns)
    step = max(STEP, page.high(rows * STEP, y + 12 + page.margin, 0) / rows)
    boxes = [
        Box(page.margin + at // rows * (wide + COLUMN_GAP), y + at % rows * step, wide, step) for at in range(count)
    ]
    for name, color, bar in zip(result.names, colors, _two_bars(boxes[0]), strict=True):
        page.rectangle(bar._replace(width=22), fill=color)
        page.small(bar.x + 30, bar.centre[1], name, within=wide - 30, vertical="middle")
    numbers = [[_number(page, result, at, side) for side in range(2)] for at in range(count - 1)]
    room = 16 + max(width(number, SMALL_SIZE) for both in numbers for number in both)
    for at, (box, both) in enumerate(zip(boxes[1:], numbers, strict=True)):
        _entry(page, result, at, box, colors, both, room)
    return caption_below(page, y + rows * step + 12, result)


def _number(page: Page, result: SidesResult, at: int, side: int) -> str:
    unit, value = result.units[at], float(result.values[at, side])
    if not np.isfinite(value):
        return NONE.in_(page.language)
    return value_text(value, unit) if unit in (PROBABILITY, OUTPUT) else compact(int(value))


def _two_bars(box: Box) -> list[Box]:
    """Return the places of an entry's two bars, below its name."""
    high = (box.height - NAME - BETWEEN - ROW_GAP) / 2
    return [box._replace(y=box.y + NAME + side * (high + BETWEEN), height=high) for side in range(2)]


def _entry(
    page: Page, result: SidesResult, at: int, box: Box, colors: tuple[str, str], numbers: list[str], room: float
) -> None:
    """Draw the name of an entry, its bars and, in `room` pixels right of them, its numbers."""
    unit, values = result.units[at], result.values[at]
    low = float(np.nanmin(values, initial=0))
    high = 1.0 if unit == PROBABILITY else float(np.nanmax(values, initial=0))
    name = result.entries[at].in_(page.language)
    if unit != result.units[-1]:
        name += f" ({unit.in_(page.language)})"
    page.small(box.x, box.y, name, within=box.width)
    for bar, value, color, number in zip(_two_bars(box), values.tolist(), colors, numbers, strict=True):
        draw_bar(page, bar._replace(width=box.width - room), value, low, high, color)
        page.small(box.right, bar.centre[1], number, anchor="right", vertical="middle")


def draw_bar(page: Page, track: Box, value: float, low: float, high: float, color: str) -> None:
    """Draw a bar from zero to a value on a track from `low` to `high`; none for NaN."""
    page.rectangle(track, fill=page.theme.line)
    if np.isfinite(value):
        per_unit = track.width / ((high - low) or 1.0)
        bar = track._replace(x=track.x + (min(0.0, value) - low) * per_unit, width=abs(value) * per_unit)
        page.rectangle(bar, fill=color)


RENDERERS = (Renderer(SidesResult, draw_sides),)
