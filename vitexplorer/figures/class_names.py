"""Names of classes along the sides of a matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence

from vitexplorer.figures.boxes import Box
from vitexplorer.figures.page import Page
from vitexplorer.figures.themes import SMALL_SIZE
from vitexplorer.figures.typesetting import width, wrap

LINE = 18
"""Pixels of a line of names"""
LEAST = 34
"""Fewest pixels for the name of a column; a narrower one would be cut to a letter"""


def class_names(page: Page, box: Box, classes: Sequence[str], pixels: float) -> None:
    """Draw names of the rows, left in `pixels`, and of the columns, below: as many and as long as have room.

    Rows have none where `pixels` is 0.
    """
    every = math.ceil(LINE * len(classes) / box.height)
    for at in range(0, len(classes), every):
        cell = box.cell(len(classes), len(classes), at, at)
        x, middle = cell.centre
        if pixels:
            page.small(box.x - 10, middle, _cut(classes[at], pixels), anchor="right", vertical="middle")
        if cell.width * every < LEAST:
            continue
        page.small(x, box.bottom + 8, _cut(classes[at], cell.width * every - 4), anchor="center")


def _cut(name: str, pixels: float) -> str:
    """Cut a name to the part that fits."""
    if width(name, SMALL_SIZE) <= pixels:
        return name
    fits = wrap(name, max(pixels - 10, 8), SMALL_SIZE)[0]
    while len(fits) > 1 and width(fits, SMALL_SIZE) > pixels - 8:
        fits = fits[:-1]
    return fits.rstrip() + "…"
