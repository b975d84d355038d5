"""Colour of each patch beside the image; missing patches are hatched, because black may be a colour."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.core.types import ColoursResult
from vitexplorer.figures.boxes import Box, place
from vitexplorer.figures.caption import facts
from vitexplorer.figures.captioned import facts_below
from vitexplorer.figures.page import Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.tiles import hatch

GAP = 24


def draw(page: Page, result: ColoursResult) -> float:
    """Draw image and colours side by side."""
    rows, cols, _ = result.values.shape
    y = page.header(result) + 26
    per_row = page.per_row(2, GAP, 250)
    room = page.high(560, y + page.margin)
    image = place(result.image, result.grid, Box(page.margin, y, (page.inner - GAP * (per_row - 1)) / per_row, room))
    colours = image.moved(image.right - page.margin + GAP) if per_row == 2 else image.below(34)
    page.text(image.image.x, y - 26, Text("image", "图像"), color=page.theme.muted)
    page.text(colours.image.x, colours.image.y - 26, result.unit, color=page.theme.muted)
    page.picture(image.image, result.image)
    page.picture(colours.cells, enlarged(result.values))
    missing = np.argwhere(~result.shown).tolist()
    hatch(page, [colours.cells.part(rows, cols, (row, col, 1, 1)) for row, col in missing], "#9aa2aa", 9)
    left_out = Text("Hatched patches are left out.", "斜线图块未参与计算。")
    return facts_below(page, colours.bottom + 24, facts(result, remarks=(left_out,) if missing else ()))


def enlarged(colours: np.ndarray, pixels: int = 600) -> np.ndarray:
    """Convert floats (rows, cols, 3) in 0-1 to uint8, enlarged by a whole factor so that cells keep sharp edges."""
    factor = max(1, pixels // max(colours.shape[:2]))
    return (colours.clip(0, 1) * 255).round().astype(np.uint8).repeat(factor, axis=0).repeat(factor, axis=1)


RENDERER = Renderer(ColoursResult, draw)
