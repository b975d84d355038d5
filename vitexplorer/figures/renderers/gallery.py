"""Many small maps: one for each head, over the image or over offsets, or one for each patch."""

from __future__ import annotations

import math

import numpy as np

from vitexplorer.core.text import Text, present
from vitexplorer.core.types import BoardResult, GalleryResult, OffsetsResult
from vitexplorer.figures.boxes import Box, Place, place
from vitexplorer.figures.caption import facts, head_text
from vitexplorer.figures.captioned import caption_below, rows_of_facts
from vitexplorer.figures.colors import directed, scale_of
from vitexplorer.figures.page import BAR_ROOM, Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.scaling import painted, painted_each, remark
from vitexplorer.figures.themes import SMALL_SIZE
from vitexplorer.figures.tiles import around, largest, tiles

GAP = 14
TITLE_ROOM, VALUE_ROOM = 22, 30  # above and below each map
NARROWEST, TALLEST = 105, 420  # pixels of a map
LEFT = 40
SHARED = Text("{how}; one scale for all heads", "{how}；所有头共用同一标度")
SHARE = Text("share of the head's maximum", "占该头最大值的比例")
LARGEST = Text("max {maximum:.3g}", "最大值 {maximum:.3g}")
OFFSET = Text("Δrow %{customdata[0]}, Δcolumn %{customdata[1]}", "Δ行 %{customdata[0]}，Δ列 %{customdata[1]}")
ZERO = Text("The frame marks offset zero: query and key at the same place.", "方框为零偏移：查询与键在同一位置。")
ACROSS = Text("column offset, query − key (cells)", "列偏移，查询减键（格）")
DOWN = Text("row offset, query − key (cells)", "行偏移，查询减键（格）")
SIDE, MOST = 680, 16
"""Pixels of the board, and most tiles along one side; a finer grid shows every second, third, ... patch"""
PAIR = Text(
    "patch in row %{customdata[0]}, column %{customdata[1]}, with row %{customdata[2]}, column %{customdata[3]}",
    "第 %{customdata[0]} 行第 %{customdata[1]} 列的图块，与第 %{customdata[2]} 行第 %{customdata[3]} 列",
)
READING = Text(
    "Each tile belongs to one patch and lies where that patch lies; its cells are all patches of the image.",
    "每个小图对应一个图块，位置与该图块相同；其中的格子是图像的全部图块。",
)
FEWER = Text("Only one in {every} rows and columns has a tile.", "小图每 {every} 行、每 {every} 列才显示一个。")


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
    ice_inferno; opacity of the cells over the image, 1 hides it.
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
            page.picture(at.image, result.image, grey=True)
        page.cells(at.cells, values, axis, name=head_text(head).in_(page.language), opacity=opacity)
        _query(page, at, result)
        own = result.values[head]
        words = remark(own) or LARGEST.format(maximum=own[np.isfinite(own)].max())
        page.small(at.image.x, at.bottom + 4, words, muted=True)
    how = SHARED.format(how=painted_maps.normalisation) if shared_scale else painted_maps.normalisation
    below = maps[-1].bottom + VALUE_ROOM + 8
    return caption_below(page, below, result, directed(how, scale.colormap), painted_maps.remarks)


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
    room = Box(page.margin + LEFT, y + 22, page.inner - LEFT - BAR_ROOM, page.high(420, y + 80))
    narrowest = 130.0
    if not page.sheet.is_slide:
        narrowest = max(narrowest, largest(heads, (rows, cols), room, above=24, below=14))
        room = room._replace(height=narrowest * rows / cols)
    boxes = tiles(heads, (rows, cols), room, above=24, below=14, narrowest=narrowest - 1)
    axis = page.color_scale(scale, beside=around(boxes), title=result.unit)
    places = np.stack(np.meshgrid(result.row_offsets, result.col_offsets, indexing="ij"), axis=-1)
    for head, (box, values) in enumerate(zip(boxes, painted_values.values, strict=True)):
        page.text(box.x, box.y - 22, head_text(head), bold=True)
        page.cells(box, values, axis, name=head_text(head).in_(page.language), where=OFFSET, places=places)
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


def sheet(board: np.ndarray) -> np.ndarray:
    """Lay tiles (tile rows, tile cols, rows, cols, ...) on one plane with a blank cell between neighbours."""
    tall, wide, rows, cols, *rest = board.shape
    plane = np.full((tall, rows + 1, wide, cols + 1, *rest), np.nan)
    plane[:, :rows, :, :cols] = board.swapaxes(1, 2)
    return plane.reshape(tall * (rows + 1), wide * (cols + 1), *rest)[:-1, :-1]


def apart(count: int, every: int, step: float, room: float) -> range:
    """Return the numbers 0, `every`, 2 `every`, ... below `count` that have `room` pixels each, `step` pixels apart."""
    return range(0, count, every * max(1, math.ceil(room / step)))


def draw_board(page: Page, result: BoardResult, y: float, *, colormap: str | None = None) -> float:
    """Draw one map for each patch, laid out as the patches are (Dosovitskiy et al. 2021, figure 7 centre).

    Option: colormap, None takes inferno or, for signed values, balance.
    """
    rows, cols = result.grid.rows, result.grid.cols
    every = -(-max(rows, cols) // MOST)
    painted_tiles = painted(result.values[::every, ::every], "raw")
    scale = scale_of(painted_tiles.values, colormap)
    places = np.stack(np.indices((rows, cols, rows, cols)), axis=-1)[::every, ::every]
    plane = sheet(painted_tiles.values)
    y += 44
    side = min(page.high(SIDE, y + page.margin), page.inner - 34 - BAR_ROOM)
    cell = min(side / plane.shape[0], side / plane.shape[1])
    box = Box(page.margin + 34, y, plane.shape[1] * cell, plane.shape[0] * cell)
    axis = page.color_scale(scale, beside=box, title=result.unit)
    page.cells(box, plane, axis, where=PAIR, places=np.nan_to_num(sheet(places)).astype(np.int16))
    _numbers(page, box, plane.shape, (rows, cols), every)
    left = box.right + BAR_ROOM + 24
    how = directed(painted_tiles.normalisation, scale.colormap)
    remarks = present(READING, *painted_tiles.remarks, FEWER.format(every=every) if every > 1 else None)
    return max(box.bottom, rows_of_facts(page, left, y, page.right - left, facts(result, how, remarks)))


def _numbers(page: Page, box: Box, shape: tuple[int, ...], grid: tuple[int, int], every: int) -> None:
    """Draw row and column of the patches, along the left and the upper side."""
    (rows, cols), cell = grid, box.width / shape[1]
    page.small(box.x, box.y - 44, Text("column of the patch", "图块所在的列"), muted=True)
    page.small(max(0, page.margin - 8), box.y - 22, Text("row", "行"), muted=True)
    for row in apart(rows, every, (rows + 1) * cell, SMALL_SIZE):
        y = box.y + (row // every * (rows + 1) + rows / 2) * cell
        page.small(box.x - 8, y, str(row), muted=True, anchor="right", vertical="middle")
    for col in apart(cols, every, (cols + 1) * cell, (0.6 * len(str(cols)) + 0.5) * SMALL_SIZE):
        x = box.x + (col // every * (cols + 1) + cols / 2) * cell
        page.small(x, box.y - 22, str(col), muted=True, anchor="center")


RENDERERS = (Renderer(GalleryResult, draw), Renderer(OffsetsResult, draw_offsets), Renderer(BoardResult, draw_board))
