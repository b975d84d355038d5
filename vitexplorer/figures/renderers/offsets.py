"""Map over offsets for each head, with the query itself in the middle."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.core.types import OffsetsResult
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.caption import facts, head_text
from vitexplorer.figures.captioned import facts_below
from vitexplorer.figures.colors import direction, scale_of
from vitexplorer.figures.page import BAR_ROOM, Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.scaling import painted
from vitexplorer.figures.themes import SMALL_SIZE
from vitexplorer.figures.tiles import around, tiles

LEFT = 40
WHERE = Text("Δrow %{customdata[0]}, Δcolumn %{customdata[1]}", "Δ行 %{customdata[0]}，Δ列 %{customdata[1]}")
ZERO = Text("The frame is offset zero: query and key in one place.", "方框为零偏移：查询与键在同一位置。")
ACROSS = Text("column offset, query − key (cells)", "列偏移，查询减键（格）")
DOWN = Text("row offset, query − key (cells)", "行偏移，查询减键（格）")


def draw(page: Page, result: OffsetsResult, *, colormap: str | None = None) -> float:
    """Draw the maps on one scale. Option: colormap, None takes inferno or, for signed values, balance."""
    painted_values = painted(result.values, "raw")
    scale = scale_of(painted_values.values, colormap)
    heads, rows, cols = result.values.shape
    y = page.header(result)
    page.text(page.margin, y, DOWN, size=SMALL_SIZE, color=page.theme.muted)
    room = Box(page.margin + LEFT, y + 22, page.inner - LEFT - BAR_ROOM, page.high(420, y + 120))
    boxes = tiles(heads, (rows, cols), room, above=24, below=14, narrowest=130)
    axis = page.color_scale(scale, beside=around(boxes), title=result.unit)
    places = np.stack(np.meshgrid(result.row_offsets, result.col_offsets, indexing="ij"), axis=-1)
    for head, (box, values) in enumerate(zip(boxes, painted_values.values, strict=True)):
        page.text(box.x, box.y - 22, head_text(head), bold=True)
        page.cells(box, values, axis, name=head_text(head).in_(page.language), where=WHERE, places=places)
        page.outline(box.part(rows, cols, (rows // 2, cols // 2, 1, 1)))
        if box.x == boxes[0].x:
            for at in {0, rows // 2, rows - 1}:
                y = box.part(rows, cols, (at, 0, 1, 1)).centre[1]
                number = str(result.row_offsets[at])
                page.text(box.x - 6, y, number, size=SMALL_SIZE, anchor="right", vertical="middle")
    last = [box for box in boxes if box.bottom == boxes[-1].bottom]
    for box in last:
        for at in {0, cols // 2, cols - 1}:
            x = box.part(rows, cols, (0, at, 1, 1)).centre[0]
            page.text(x, box.bottom + 4, str(result.col_offsets[at]), size=SMALL_SIZE, anchor="center")

    bottom = page.text(last[0].x, last[0].bottom + 24, ACROSS, size=SMALL_SIZE, color=page.theme.muted)
    how = Text("{how}; one scale for all heads; {direction}", "{how}；所有头共用同一标度；{direction}").format(
        how=painted_values.normalisation, direction=direction(scale.colormap)
    )
    return facts_below(page, bottom + 14, facts(result, how, (ZERO, *painted_values.remarks)))


RENDERER = Renderer(OffsetsResult, draw)
