"""Board with one map for each patch, laid out as the patches are (Dosovitskiy et al. 2021, figure 7 centre)."""

from __future__ import annotations

import math

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.core.types import BoardResult
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.caption import facts
from vitexplorer.figures.captioned import rows_of_facts
from vitexplorer.figures.colors import directed, scale_of
from vitexplorer.figures.page import BAR_ROOM, Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.scaling import painted
from vitexplorer.figures.themes import SMALL_SIZE

SIDE = 680
MOST = 16
"""Most tiles along one side; a finer grid shows every second, third, ... patch"""
WHERE = Text(
    "patch in row %{customdata[0]}, column %{customdata[1]}, with row %{customdata[2]}, column %{customdata[3]}",
    "第 %{customdata[0]} 行第 %{customdata[1]} 列的图块，与第 %{customdata[2]} 行第 %{customdata[3]} 列",
)

READING = Text(
    "Each tile belongs to one patch and lies where that patch lies; its cells are all patches of the image.",
    "每个小图对应一个图块，位置与该图块相同；其中的格子是图像的全部图块。",
)
FEWER = Text("Only every {every}. row and column of tiles is shown.", "小图每 {every} 行、每 {every} 列取一个。")


def sheet(board: np.ndarray) -> np.ndarray:
    """Lay tiles (tile rows, tile cols, rows, cols, ...) on one plane with a blank cell between neighbours."""
    tall, wide, rows, cols, *rest = board.shape
    plane = np.full((tall, rows + 1, wide, cols + 1, *rest), np.nan)
    plane[:, :rows, :, :cols] = board.swapaxes(1, 2)
    return plane.reshape(tall * (rows + 1), wide * (cols + 1), *rest)[:-1, :-1]


def apart(count: int, every: int, step: float, room: float) -> range:
    """Return the numbers 0, `every`, 2 `every`, ... below `count` that have `room` pixels each, `step` pixels apart."""
    return range(0, count, every * max(1, math.ceil(room / step)))


def draw(page: Page, result: BoardResult, y: float, *, colormap: str | None = None) -> float:
    """Draw the board. Option: colormap, None takes inferno or, for signed values, balance."""
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
    page.cells(box, plane, axis, where=WHERE, places=np.nan_to_num(sheet(places)).astype(np.int16))
    _numbers(page, box, plane.shape, (rows, cols), every)
    left = box.right + BAR_ROOM + 24
    how = directed(painted_tiles.normalisation, scale.colormap)
    remarks = (READING, *painted_tiles.remarks, *((FEWER.format(every=every),) if every > 1 else ()))
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


RENDERERS = (Renderer(BoardResult, draw),)
