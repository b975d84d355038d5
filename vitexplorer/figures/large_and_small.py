"""Maps of unequal weight: one large, the others small beside it or, on a narrow page, below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.core.types import PatchGrid
from vitexplorer.figures.beyond import ROOM
from vitexplorer.figures.boxes import Box, Place, place
from vitexplorer.figures.page import BAR_ROOM, Page
from vitexplorer.figures.themes import TEXT_SIZE
from vitexplorer.figures.typesetting import wrap

GAP, HEAD, LINE, NARROW = 20, 46, 20, 480
"""Pixels between maps, of a title of one line with the line below it, of another line, and of what is narrow"""


class Panel(NamedTuple):
    """Image of a map, and the two lines above it."""

    image: np.ndarray
    grid: PatchGrid
    title: Text
    line: Text


def large_and_small(page: Page, panels: Sequence[Panel], y: float, bar: float = 0) -> list[Place]:
    """Draw the lines and the grey image of up to three maps, the first one large. Returns their places.

    Right of the large map is room for a colour scale, right of the small ones `bar` pixels for another.
    """
    narrow = page.inner - bar < NARROW
    first, *rest = panels
    ratio = first.image.shape[0] / first.image.shape[1]
    top = y + HEAD
    if narrow:
        wide = (page.inner - bar - GAP) / 2
        lines = _line_count(page, rest, wide)
        large = place(first.image, first.grid, Box(page.margin, top, page.inner - BAR_ROOM, page.inner * ratio))
        below = large.bottom + GAP + HEAD + (lines - 1) * LINE
        corners = [(page.margin, below), (page.margin + wide + GAP, below)]
    else:
        tall = page.high(560, top + ROOM + page.margin, 0)
        pixels = page.inner - BAR_ROOM - bar
        wide = min(((HEAD + tall - GAP) / 2 - HEAD) / ratio, pixels / 3)
        lines = min(2, _line_count(page, rest, wide))
        more = (lines - 1) * LINE
        wide = min(((HEAD + tall - GAP) / 2 - HEAD - more) / ratio, pixels / 3)
        large = place(first.image, first.grid, Box(page.margin, top, min(pixels - wide, tall / ratio), tall))
        left = large.right + BAR_ROOM
        corners = [(left, top + more), (left, top + wide * ratio + GAP + HEAD + 2 * more)]
    small = [
        place(panel.image, panel.grid, Box(*corner, wide, wide * ratio))
        for panel, corner in zip(rest, corners, strict=False)
    ]
    places = [large, *small]
    for at, panel in zip(places, panels, strict=True):
        draw_panel(page, at, panel, most=lines)
    return places


def draw_panel(page: Page, at: Place, panel: Panel, most: int = 1) -> None:
    """Draw the title above a map, in at most `most` lines, the line below it, and the image in grey."""
    x, pixels = at.image.x, at.right - at.image.x
    lines = _lines(page, panel.title, pixels)
    if len(lines) > most:
        lines = [*lines[: most - 1], f"{lines[most - 1]}…"]
    for number, line in enumerate(lines):
        page.text(x, at.image.y - HEAD - (len(lines) - 1 - number) * LINE, line, bold=True)
    page.small(x, at.image.y - HEAD + 22, panel.line, muted=True, within=pixels)
    page.picture(at.image, panel.image, grey=True)


def _line_count(page: Page, panels: Sequence[Panel], pixels: float) -> int:
    return max((len(_lines(page, panel.title, pixels)) for panel in panels), default=1)


def _lines(page: Page, title: Text, pixels: float) -> list[str]:
    return wrap(title.in_(page.language), pixels, TEXT_SIZE)
