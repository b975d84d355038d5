"""Several pictures in a row, and under each the colours of its patches: equal colours mean similar tokens in all."""

from __future__ import annotations

from vitexplorer.core.types import PicturesResult
from vitexplorer.figures.boxes import Box, place
from vitexplorer.figures.caption import facts
from vitexplorer.figures.captioned import facts_below
from vitexplorer.figures.page import Page
from vitexplorer.figures.renderers.colours import enlarged
from vitexplorer.figures.rendering import Renderer

TITLE, GAP, LEAST, MOST = 24, 12, 130, 260
"""Pixels over a picture, between pictures, and of a picture's side at least and at most"""


def draw(page: Page, result: PicturesResult) -> float:
    """Draw each picture with its colours below it, as many side by side as fit."""
    count = len(result.pictures)
    per_row = page.per_row(count, GAP, LEAST)
    wide = min(MOST, (page.inner - (per_row - 1) * GAP) / per_row)
    y = bottom = page.header(result)
    for at, picture in enumerate(result.pictures):
        col = at % per_row
        if col == 0:
            y = bottom + TITLE + (8 if at else 0)
        x = page.margin + col * (wide + GAP)
        image = place(picture.image, picture.grid, Box(x, y, wide, wide))
        colours = image.below(4)
        page.text(x, y - TITLE, picture.title, bold=True)
        page.picture(image.image, picture.image)
        page.picture(colours.cells, enlarged(picture.values))
        bottom = max(bottom, colours.bottom)
    return facts_below(page, bottom + 20, facts(result))


RENDERER = Renderer(PicturesResult, draw)
