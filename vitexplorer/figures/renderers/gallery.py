"""Small map of each head, side by side: over the image, or over the offsets from query to key."""

from __future__ import annotations

import math

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.core.types import GalleryResult, OffsetsResult
from vitexplorer.figures.boxes import Box, Place, place
from vitexplorer.figures.caption import head_text
from vitexplorer.figures.captioned import caption_below
from vitexplorer.figures.colors import directed, scale_of
from vitexplorer.figures.page import BAR_ROOM, Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.scaling import painted, painted_each, remark
from vitexplorer.figures.tiles import around, tiles

GAP = 14
TITLE_ROOM, VALUE_ROOM = 22, 30  # above and below each map
NARROWEST, TALLEST = 105, 420  # pixels of a map
LEFT = 40
SHARED = Text("{how}; one scale for all heads", "{how}；所有头共用同一标度")
SHARE = Text("share of the head's maximum", "占该头最大值的比例")
LARGEST = Text("max {maximum:.3g}", "最大值 {maximum:.3g}")
WHERE = Text("Δrow %{customdata[0]}, Δcolumn %{customdata[1]}", "Δ行 %{customdata[0]}，Δ列 %{customdata[1]}")
ZERO = Text("The frame is offset zero: query and key in one place.", "方框为零偏移：查询与键在同一位置。")
ACROSS = Text("column offset, query − key (cells)", "列偏移，查询减键（格）")
DOWN = Text("row offset, query − key (cells)", "行偏移，查询减键（格）")


def draw(
    page: Page,
    result: GalleryResult,
    y: float,
    *,
    shared_scale: bool = True,
    colormap: str | None = None,
    opacity: float = 1.0,
) -> float:
    """Draw the image and the maps.

    All heads share one scale, so that equal brightness means equal values; or each has its own, so that a faint head
    shows its shape. The figure names the choice. The maximum under each map is always in the result's unit.

    Options: shared_scale, one for all heads or each head's own; colormap, None takes inferno or, for signed maps,
    balance; opacity of the cells over the image, 1 hides it.
    """
    painted_maps = painted(result.values, "raw") if shared_scale else painted_each(result.values)
    scale = scale_of(painted_maps.values, colormap)
    image, *maps = places = _places(page, result, y)
    top, right = image.image.y, max(at.right for at in places)
    beside = Box(right, top, 0, maps[-1].bottom - top)
    axis = page.color_scale(scale, beside=beside, title=result.unit if shared_scale else SHARE)
    page.picture(image.image, result.image)
    page.text(image.image.x, top - TITLE_ROOM, Text("image", "图像"), bold=True)
    _query(page, image, result)
    for head, (at, values) in enumerate(zip(maps, painted_maps.values, strict=True)):
        page.text(at.image.x, at.image.y - TITLE_ROOM, head_text(head), bold=True)
        if opacity < 1:
            page.picture(at.image, result.image)
        page.cells(at.cells, values, axis, name=head_text(head).in_(page.language), opacity=opacity)
        _query(page, at, result)
        page.small(at.image.x, at.bottom + 4, _below(result.values[head]), muted=True)
    how = SHARED.format(how=painted_maps.normalisation) if shared_scale else painted_maps.normalisation
    below = maps[-1].bottom + VALUE_ROOM + 8
    return caption_below(page, below, result, directed(how, scale.colormap), painted_maps.remarks)


def _below(values: np.ndarray) -> Text:
    return remark(values) or LARGEST.format(maximum=values[np.isfinite(values)].max())


def _query(page: Page, at: Place, result: GalleryResult) -> None:
    if isinstance(result.query, tuple):
        page.outline(at.cells.cell(result.grid.rows, result.grid.cols, *result.query))


def _places(page: Page, result: GalleryResult, y: float) -> list[Place]:
    """Return places for the image and each map, row by row, in the fewest rows with readable maps."""
    count, width = len(result.values) + 1, page.inner - BAR_ROOM

    def wide_in(rows: int) -> float:
        cols = math.ceil(count / rows)
        return (width - (cols - 1) * GAP) / cols

    rows = next(rows for rows in range(1, count + 1) if wide_in(rows) >= NARROWEST or rows == count)
    cols = math.ceil(count / rows)
    first = place(result.image, result.grid, Box(page.margin, y + TITLE_ROOM, wide_in(rows), TALLEST))
    across = first.right - page.margin + GAP
    down = first.bottom - y + VALUE_ROOM
    return [first.moved(i % cols * across, i // cols * down) for i in range(count)]


def draw_offsets(page: Page, result: OffsetsResult, y: float, *, colormap: str | None = None) -> float:
    """Draw maps over offsets on one scale, with the query itself in the middle.

    Option: colormap, None takes inferno or, for signed values, balance.
    """
    painted_values = painted(result.values, "raw")
    scale = scale_of(painted_values.values, colormap)
    heads, rows, cols = result.values.shape
    page.small(page.margin, y, DOWN, muted=True)
    room = Box(page.margin + LEFT, y + 22, page.inner - LEFT - BAR_ROOM, page.high(420, y + 120))
    boxes = tiles(heads, (rows, cols), room, above=24, below=14, narrowest=130)
    axis = page.color_scale(scale, beside=around(boxes), title=result.unit)
    places = np.stack(np.meshgrid(result.row_offsets, result.col_offsets, indexing="ij"), axis=-1)
    for head, (box, values) in enumerate(zip(boxes, painted_values.values, strict=True)):
        page.text(box.x, box.y - 22, head_text(head), bold=True)
        page.cells(box, values, axis, name=head_text(head).in_(page.language), where=WHERE, places=places)
        page.outline(box.cell(rows, cols, rows // 2, cols // 2))
        if box.x == boxes[0].x:
            for at in {0, rows // 2, rows - 1}:
                y = box.cell(rows, cols, at, 0).centre[1]
                page.small(box.x - 6, y, str(result.row_offsets[at]), anchor="right", vertical="middle")
    last = [box for box in boxes if box.bottom == boxes[-1].bottom]
    for box in last:
        for at in {0, cols // 2, cols - 1}:
            x = box.cell(rows, cols, 0, at).centre[0]
            page.small(x, box.bottom + 4, str(result.col_offsets[at]), anchor="center")
    bottom = page.small(last[0].x, last[0].bottom + 24, ACROSS, muted=True)
    how = directed(SHARED.format(how=painted_values.normalisation), scale.colormap)
    return caption_below(page, bottom + 14, result, how, (ZERO, *painted_values.remarks))


RENDERERS = (Renderer(GalleryResult, draw), Renderer(OffsetsResult, draw_offsets))
