"""Matrix with a number for each head or token of each block.

Missing entries are hatched. Entries that the view points out carry a diamond, whatever their colour.
"""

from __future__ import annotations

import math

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.core.types import MatrixResult
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.caption import facts
from vitexplorer.figures.captioned import facts_below
from vitexplorer.figures.chart import axis_text, ticks
from vitexplorer.figures.colors import Scale, direction, lookup_table, scale_of
from vitexplorer.figures.page import BAR_ROOM, Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.scaling import painted
from vitexplorer.figures.themes import SMALL_SIZE
from vitexplorer.figures.tiles import hatch

LEFT = 40
LARGEST_HEIGHT, TALLEST = 620, 44
WORDS = {"heads": Text("head", "头"), "tokens": Text("token", "标记"), "blocks": Text("right block", "右侧块")}
HATCHED = Text("Hatched: this block has no such {what}.", "斜线部分：该块没有对应的{what}。")
MARKED = Text("A diamond marks an outlier.", "菱形标出离群者。")
ROOM_FOR_BOTH = 80
RELATIVE = Text("In brackets the share of the largest it could be.", "括号内为占可能最大值的比例。")


def draw(
    page: Page, result: MatrixResult, names: tuple[Text, Text] | None = None, *, colormap: str | None = None
) -> float:
    """Draw the matrix; `names` are those of rows and columns, by default from the axes.

    Option: colormap, None takes inferno or, for signed values, balance.
    """
    values = painted(result.values, "raw").values
    missing = ~np.isfinite(result.values)
    scale, (rows, cols) = scale_of(values, colormap), values.shape
    y = page.header(result) + 24
    height = page.high(min(TALLEST, LARGEST_HEIGHT / rows) * rows, y + 66)
    box = Box(page.margin + LEFT, y, page.inner - LEFT - BAR_ROOM, height)
    axis = page.color_scale(scale, beside=box, title=result.unit)
    what = WORDS.get(result.axes[1], axis_text(result.axes[1]))
    where = Text(
        "block %{{customdata[0]}}, {what} %{{customdata[1]}}", "块 %{{customdata[0]}}，{what} %{{customdata[1]}}"
    )
    page.cells(box, values, axis, where=where.format(what=what))
    hatch(page, [box.part(rows, cols, cells) for cells in runs(missing)])
    _axes(page, box, result, names or (axis_text(result.axes[0]), axis_text(result.axes[1])))
    _numbers(page, box, values, scale, result)
    marked = np.zeros(values.shape, bool) if result.marked is None else result.marked
    for row, col in np.argwhere(marked).tolist():
        _diamond(page, box.part(rows, cols, (row, col, 1, 1)).centre)
    remarks = [
        *([HATCHED.format(what=what)] if missing.any() else []),
        *([MARKED] if marked.any() else []),
        *([RELATIVE] if result.relative is not None and box.width / cols >= ROOM_FOR_BOTH else []),
    ]
    return facts_below(page, box.bottom + 66, facts(result, direction(scale.colormap), tuple(remarks)))


def runs(mask: np.ndarray) -> list[tuple[int, int, int, int]]:
    """Return true cells of (rows, cols) as (top, left, 1, width), neighbours in a row together."""
    rectangles = []
    for row, line in enumerate(mask):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], line.astype(int), [0]))))
        rectangles += [(row, left, 1, right - left) for left, right in edges.reshape(-1, 2).tolist()]
    return rectangles


def _axes(page: Page, box: Box, result: MatrixResult, names: tuple[Text, Text]) -> None:
    rows, cols = result.values.shape
    page.text(page.margin, box.y - 24, names[0], size=SMALL_SIZE, color=page.theme.muted)
    every = math.ceil(18 / (box.height / rows))
    for row in range(0, rows, every):
        y = box.part(rows, cols, (row, 0, 1, 1)).centre[1]
        page.text(box.x - 8, y, str(row), size=SMALL_SIZE, anchor="right", vertical="middle")
    for col in range(cols) if cols <= 40 else map(int, ticks(0, cols - 1, 12)):
        x = box.part(rows, cols, (0, col, 1, 1)).centre[0]
        page.text(x, box.bottom + 6, str(col), size=SMALL_SIZE, anchor="center")
    x, _ = box.centre
    page.text(x, box.bottom + 28, names[1], size=SMALL_SIZE, color=page.theme.muted, anchor="center")


def _numbers(page: Page, box: Box, values: np.ndarray, scale: Scale, result: MatrixResult) -> None:
    """Draw the number in each cell with enough room, dark on bright and bright on dark."""
    rows, cols = values.shape
    room = box.width / cols
    if room < 42 or box.height / rows < 18:
        return
    for row, col in np.argwhere(np.isfinite(values)).tolist():
        words = f"{values[row, col]:.3g}"
        if result.relative is not None and room >= ROOM_FOR_BOTH:
            words += f" ({100 * result.relative[row, col]:.0f} %)"
        share = (values[row, col] - scale.low) / (scale.high - scale.low)
        red, green, blue = (lookup_table(scale.colormap)[round(255 * share)] / 255) ** 2.2
        color = "#000000" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 else "#ffffff"
        x, y = box.part(rows, cols, (row, col, 1, 1)).centre
        page.text(x, y, words, size=SMALL_SIZE, color=color, anchor="center", vertical="middle")


def _diamond(page: Page, centre: tuple[float, float]) -> None:
    page.curve([centre], "#000000", symbol="diamond-tall")
    page.curve([centre], "#ffffff", symbol="diamond-tall-open", width=1)


RENDERER = Renderer(MatrixResult, draw)
