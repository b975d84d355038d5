"""Confusion matrix: a row for each true class, a column for each predicted class.

Colours are shares of the row, so that classes with few images are readable too; the numbers are counts.
"""

from __future__ import annotations

import math

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.core.types import ConfusionResult
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.caption import facts
from vitexplorer.figures.captioned import facts_below
from vitexplorer.figures.colors import UNSIGNED, Scale, lookup_table
from vitexplorer.figures.page import BAR_ROOM, Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.themes import SMALL_SIZE
from vitexplorer.figures.typesetting import width, wrap

NAMES = 190
"""Pixels for the names of the true classes"""
LARGEST, ROOM_FOR_NUMBER, LINE = 620, 26, 18
TRUE, PREDICTED = Text("true class", "真实类别"), Text("predicted class", "预测类别")
SHARE = Text("share of the true class", "占该真实类别的比例")
WHERE = Text(
    "true %{{customdata[0]}}, predicted %{{customdata[1]}}", "真实 %{{customdata[0]}}，预测 %{{customdata[1]}}"
)


def draw(page: Page, result: ConfusionResult, *, colormap: str = UNSIGNED) -> float:
    """Draw the matrix. Option: colormap."""
    counts, classes = result.values, len(result.classes)
    shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    y = page.header(result)
    page.text(page.margin, y, TRUE, size=SMALL_SIZE, color=page.theme.muted)
    names_room = min(NAMES, 0.26 * page.inner)
    side = min(page.high(LARGEST, y + 24 + 2 * LINE + 28), page.inner - names_room - BAR_ROOM, 64 * classes)
    box = Box(page.margin + names_room, y + 24, side, side)
    scale = Scale(colormap, 0.0, 1.0)
    names = np.array(result.classes, dtype=object)
    places = np.stack(np.meshgrid(names, names, indexing="ij"), axis=-1)
    page.cells(box, shares, page.color_scale(scale, beside=box, title=SHARE), where=WHERE.format(), places=places)
    _names(page, box, result.classes, names_room - 14)
    if side / classes >= ROOM_FOR_NUMBER:
        for row, col in np.argwhere(counts).tolist():
            x, middle = box.part(classes, classes, (row, col, 1, 1)).centre
            color = _on(scale, float(shares[row, col]))
            page.text(
                x, middle, f"{counts[row, col]}", size=SMALL_SIZE, color=color, anchor="center", vertical="middle"
            )
    below = page.text(
        box.centre[0], box.bottom + LINE + 14, PREDICTED, size=SMALL_SIZE, color=page.theme.muted, anchor="center"
    )
    return facts_below(page, below + 14, facts(result))


def _names(page: Page, box: Box, classes: tuple[str, ...], pixels: float) -> None:
    """Draw names of the rows and of the columns, as many and as long as have room."""
    every = math.ceil(LINE * len(classes) / box.height)
    for at in range(0, len(classes), every):
        cell = box.part(len(classes), len(classes), (at, at, 1, 1))
        page.text(
            box.x - 10,
            cell.centre[1],
            _cut(classes[at], pixels),
            size=SMALL_SIZE,
            anchor="right",
            vertical="middle",
        )
        name = _cut(classes[at], cell.width * every - 4)
        page.text(cell.centre[0], box.bottom + 8, name, size=SMALL_SIZE, anchor="center")


def _cut(name: str, pixels: float) -> str:
    """Cut a name to the part that fits."""
    if width(name, SMALL_SIZE) <= pixels:
        return name
    fits = wrap(name, max(pixels - 10, 8), SMALL_SIZE)[0]
    while len(fits) > 1 and width(fits, SMALL_SIZE) > pixels - 8:
        fits = fits[:-1]
    return fits.rstrip() + "…"


def _on(scale: Scale, share: float) -> str:
    """Return black for bright cells, white for dark ones."""
    red, green, blue = (lookup_table(scale.colormap)[round(255 * share)] / 255) ** 2.2
    return "#000000" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 else "#ffffff"


RENDERER = Renderer(ConfusionResult, draw)
