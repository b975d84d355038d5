"""Matrix with a number for each head or token of each block, or for each pair of blocks of two networks.

Missing entries are hatched. Entries that the view points out carry a diamond, whatever their colour.
"""

from __future__ import annotations

import math

import numpy as np

from vitexplorer.core.text import Text, present
from vitexplorer.core.types import AlikeResult, MatrixResult
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.captioned import caption_below
from vitexplorer.figures.chart import axis_text, ticks
from vitexplorer.figures.colors import Scale, direction, scale_of
from vitexplorer.figures.page import BAR_ROOM, Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.scaling import painted
from vitexplorer.figures.tiles import hatch

LEFT = 40
LARGEST_HEIGHT, TALLEST = 620, 44
WORDS = {"heads": Text("head", "头"), "tokens": Text("token", "标记"), "blocks": Text("right block", "右侧块")}
WHERE = Text("block %{{customdata[0]}}, {what} %{{customdata[1]}}", "块 %{{customdata[0]}}，{what} %{{customdata[1]}}")
HATCHED = Text("Hatched: this block has no such {what}.", "斜线部分：该块没有对应的{what}。")
MARKED = Text("A diamond marks an outlier.", "菱形标出离群图块。")
ROOM_FOR_BOTH = 80
RELATIVE = Text("In brackets the share of the largest it could be.", "括号内为占最大可能值的比例。")


def draw(page: Page, result: MatrixResult, y: float, *, colormap: str | None = None) -> float:
    """Draw the matrix. Option: colormap, None takes inferno or, for signed values, balance."""
    values = painted(result.values, "raw").values
    missing = ~np.isfinite(result.values)
    scale, (rows, cols) = scale_of(values, colormap), values.shape
    y += 24
    height = page.high(min(TALLEST, LARGEST_HEIGHT / rows) * rows, y + 66)
    box = Box(page.margin + LEFT, y, page.inner - LEFT - BAR_ROOM, height)
    axis = page.color_scale(scale, beside=box, title=result.unit)
    what = WORDS.get(result.axes[1], axis_text(result.axes[1]))
    page.cells(box, values, axis, where=WHERE.format(what=what))
    hatch(page, [box.part(rows, cols, cells) for cells in runs(missing)])
    _axes(page, box, result)
    _numbers(page, box, values, scale, result)
    marked = np.zeros(values.shape, bool) if result.marked is None else result.marked
    for at in np.argwhere(marked).tolist():
        centre = box.cell(rows, cols, *at).centre
        page.curve([centre], "#000000", symbol="diamond-tall")
        page.curve([centre], "#ffffff", symbol="diamond-tall-open", width=1)
    remarks = present(
        HATCHED.format(what=what) if missing.any() else None,
        MARKED if marked.any() else None,
        RELATIVE if result.relative is not None and box.width / cols >= ROOM_FOR_BOTH else None,
    )
    return caption_below(page, box.bottom + 66, result, direction(scale.colormap), remarks)


def runs(mask: np.ndarray) -> list[tuple[int, int, int, int]]:
    """Return true cells of (rows, cols) as (top, left, 1, width), neighbours in a row together."""
    rectangles = []
    for row, line in enumerate(mask):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], line.astype(int), [0]))))
        rectangles += [(row, left, 1, right - left) for left, right in edges.reshape(-1, 2).tolist()]
    return rectangles


def _axes(page: Page, box: Box, result: MatrixResult) -> None:
    rows, cols = result.values.shape
    row_name, col_name = result.axis_names if isinstance(result, AlikeResult) else map(axis_text, result.axes)
    page.small(page.margin, box.y - 24, row_name, muted=True)
    every = math.ceil(18 / (box.height / rows))
    for row in range(0, rows, every):
        y = box.cell(rows, cols, row, 0).centre[1]
        page.small(box.x - 8, y, str(row), anchor="right", vertical="middle")
    for col in range(cols) if cols <= 40 else map(int, ticks(0, cols - 1, 12)):
        page.small(box.cell(rows, cols, 0, col).centre[0], box.bottom + 6, str(col), anchor="center")
    page.small(box.centre[0], box.bottom + 28, col_name, muted=True, anchor="center")


def _numbers(page: Page, box: Box, values: np.ndarray, scale: Scale, result: MatrixResult) -> None:
    """Draw the number in each cell with enough room, dark on bright and bright on dark."""
    rows, cols = values.shape
    room = box.width / cols
    if room < 42 or box.height / rows < 18:
        return
    for row, col in np.argwhere(np.isfinite(values)).tolist():
        value = values[row, col]
        words = f"{value:.3g}"
        if result.relative is not None and room >= ROOM_FOR_BOTH:
            words += f" ({100 * result.relative[row, col]:.0f} %)"
        centre = box.cell(rows, cols, row, col).centre
        page.small(*centre, words, color=scale.text_color(value), anchor="center", vertical="middle")


RENDERERS = (Renderer(MatrixResult, draw), Renderer(AlikeResult, draw))
