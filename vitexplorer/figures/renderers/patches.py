"""Image as the model takes it: the pixels under their grid, and the same patches pulled apart in their order."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.core.types import PatchesResult
from vitexplorer.figures.boxes import Box, place
from vitexplorer.figures.captioned import caption_below
from vitexplorer.figures.page import Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.themes import SMALL_SIZE

GUTTER = 72  # pixels between the pictures, for the number of each row's first patch
NUMBERS = 44  # the same if the pictures are one below the other
LARGEST_HEIGHT = 560
INSIDE = 46  # least pixels of a patch that carries its own number
ENLARGED = 1200  # pixels of the longer side of the exploded picture: patches keep sharp edges when it is scaled


def draw(page: Page, result: PatchesResult, y: float) -> float:
    """Draw the image with its grid and, beside it, the patches with gaps."""
    rows, cols = result.grid.rows, result.grid.cols
    y += 26
    per_row, wide = page.columns(2, GUTTER, 250)
    numbers = 0 if per_row == 2 else NUMBERS
    room = Box(page.margin + numbers, y, wide - numbers, page.high(LARGEST_HEIGHT, y + page.margin))
    whole = place(result.image, result.grid, room)
    apart = whole.cells._replace(x=whole.right + GUTTER) if per_row == 2 else whole.below(36).cells
    height, width = result.image.shape[:2]
    size = Text("the image, {height} × {width} × 3", "图像，{height} × {width} × 3").format(height=height, width=width)
    page.text(page.margin, y - 26, size, muted=True)
    page.text(apart.x, apart.y - 26, _shape(result), muted=True)
    page.picture(whole.image, result.image)
    _grid_lines(page, whole.cells, rows, cols)
    gap = max(2, result.grid.patch_size // 6)
    page.picture(apart, exploded(result.values, rows, cols, gap))
    _numbers(page, apart, rows, cols)
    order = Text(
        "patches follow one another row by row, numbered 0 to {last}: the sequence the first block reads; "
        "prefix tokens before it: {prefix}",
        "图块按行依次排列，编号 0 到 {last}：这就是第一个块读入的序列；其前的前缀标记数：{prefix}",
    ).format(last=result.grid.num_patches - 1, prefix=result.grid.num_prefix_tokens)
    return caption_below(page, max(whole.bottom, apart.bottom) + 26, result, remarks=(order,))


def _shape(result: PatchesResult) -> Text:
    count, tall, wide, channels = result.values.shape
    return Text(
        "{count} patches of {tall} × {wide} × {channels} = {numbers} numbers",
        "{count} 个图块，每个 {tall} × {wide} × {channels} = {numbers} 个数",
    ).format(count=count, tall=tall, wide=wide, channels=channels, numbers=tall * wide * channels)


def exploded(patches: np.ndarray, rows: int, cols: int, gap: int) -> np.ndarray:
    """Pull patches (rows * cols, height, width, 3) uint8 `gap` pixels apart: RGBA, transparent between them.

    The picture is enlarged by a whole factor. Every patch has its gap right and below, so the cells form a grid.
    """
    _, height, width, _ = patches.shape
    padded = np.zeros((rows * cols, height + gap, width + gap, 4), np.uint8)
    padded[:, :height, :width, :3] = patches
    padded[:, :height, :width, 3] = 255
    sheet = padded.reshape(rows, cols, height + gap, width + gap, 4).swapaxes(1, 2)
    sheet = sheet.reshape(rows * (height + gap), cols * (width + gap), 4)
    factor = max(1, -(-ENLARGED // max(sheet.shape[:2])))
    return sheet.repeat(factor, axis=0).repeat(factor, axis=1)


def _grid_lines(page: Page, box: Box, rows: int, cols: int) -> None:
    color = "rgba(255,255,255,0.75)"
    for y in np.linspace(box.y, box.bottom, rows + 1).tolist():
        page.line((box.x, y), (box.right, y), color)
    for x in np.linspace(box.x, box.right, cols + 1).tolist():
        page.line((x, box.y), (x, box.bottom), color)


def _numbers(page: Page, box: Box, rows: int, cols: int) -> None:
    """Draw the number of every patch, or without room only of the first in each row, left of it."""
    wide = box.width / cols
    if wide >= INSIDE:
        for patch in range(rows * cols):
            cell = box.cell(rows, cols, *divmod(patch, cols))
            plate = cell._replace(width=9 + 8 * len(str(patch)), height=18)
            page.rectangle(plate, fill="rgba(0,0,0,0.6)")
            page.small(*plate.centre, str(patch), color="#ffffff", anchor="center", vertical="middle")
        return
    every = int(-(-SMALL_SIZE * 1.3 // wide))
    for row in range(0, rows, every):
        y = box.cell(rows, cols, row, 0).centre[1]
        page.small(box.x - 8, y, str(row * cols), muted=True, anchor="right", vertical="middle")


RENDERERS = (Renderer(PatchesResult, draw),)
