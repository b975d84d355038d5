"""Numbers of two captures: for each a pair of bars with the numbers beside them.

Probabilities are drawn as shares of 1. In other rows the longer bar fills the room, since each has its own unit.
Outputs may be negative; then both bars begin at zero.
"""

from __future__ import annotations

import numpy as np

from vitexplorer.core.format import compact
from vitexplorer.core.text import Text
from vitexplorer.core.types import OUTPUT, PROBABILITY, SidesResult, value_text
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.caption import facts
from vitexplorer.figures.captioned import facts_below
from vitexplorer.figures.chart import style_of
from vitexplorer.figures.page import Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.themes import SMALL_SIZE
from vitexplorer.figures.typesetting import wrap

STEP, BAR, NUMBERS = 58, 10, 96
"""Pixels of a row, of a bar, and of the room for a number"""
NONE = Text("none", "无")


def draw(page: Page, result: SidesResult) -> float:
    """Draw a row for each number, in two columns if there is room."""
    y = page.header(result)
    colors = (page.theme.bar, style_of(page, 1).color)
    y = _legend(page, result, y, colors) + 18
    columns, gap = page.per_row(2, 60, 320), 60
    wide = (page.inner - gap * (columns - 1)) / columns
    rows = -(-len(result.entries) // columns)
    for at in range(len(result.entries)):
        col, row = divmod(at, rows)
        _row(page, result, at, Box(page.margin + col * (wide + gap), y + row * STEP, wide, STEP), colors)
    return facts_below(page, y + rows * STEP + 12, facts(result))


def _legend(page: Page, result: SidesResult, y: float, colors: tuple[str, str]) -> float:
    for name, color in zip(result.names, colors, strict=True):
        page.rectangle(Box(page.margin, y + 5, 22, BAR), fill=color)
        y = page.text(page.margin + 30, y, name, size=SMALL_SIZE, pixels=page.inner - 30) + 4
    return y


def _row(page: Page, result: SidesResult, at: int, box: Box, colors: tuple[str, str]) -> None:
    unit, values = result.units[at], result.values[at]
    is_count = unit not in (PROBABILITY, OUTPUT)
    low = float(np.nanmin(values, initial=0))
    high = 1.0 if unit == PROBABILITY else float(np.nanmax(values, initial=0))
    name = result.entries[at].in_(page.language)
    if unit != result.units[-1]:
        name += f" ({unit.in_(page.language)})"
    lines = wrap(name, box.width, SMALL_SIZE)
    page.text(box.x, box.y, lines[0] + ("…" if len(lines) > 1 else ""), size=SMALL_SIZE)
    room = box.width - NUMBERS
    for side, (value, color) in enumerate(zip(values.tolist(), colors, strict=True)):
        y = box.y + 21 + side * 15
        page.rectangle(Box(box.x, y, room, BAR), fill=page.theme.line)
        if np.isfinite(value):
            per_unit = room / ((high - low) or 1.0)
            page.rectangle(Box(box.x + (min(0.0, value) - low) * per_unit, y, abs(value) * per_unit, BAR), fill=color)
        number_text = NONE if not np.isfinite(value) else compact(int(value)) if is_count else value_text(value, unit)
        page.text(box.right, y + BAR / 2, number_text, size=SMALL_SIZE, anchor="right", vertical="middle")


RENDERER = Renderer(SidesResult, draw)
