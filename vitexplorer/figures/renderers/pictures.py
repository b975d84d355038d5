"""Pictures side by side: colours of patches, of one image or of several; filters; an MAE's reconstruction."""

from __future__ import annotations

import math

import numpy as np

from vitexplorer.core.format import percent
from vitexplorer.core.text import Text
from vitexplorer.core.types import ColoursResult, FiltersResult, PicturesResult, ReconstructionResult
from vitexplorer.figures.boxes import Box, place
from vitexplorer.figures.captioned import caption_below
from vitexplorer.figures.page import Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.tiles import hatch, tiles

GAP, TITLE = 24, 26
CLOSE, HEADING, LEAST, MOST = 12, 24, 130, 260
"""Pixels between several pictures, over each, and of its side at least and at most"""
HIDDEN_GREY = 128
LEFT_OUT = Text("Hatched patches are left out.", "斜线图块未参与计算。")
READING = Text("Under each: its number and its share of the variance.", "每幅下方：编号与所占方差比例。")
NAMES = (Text("image", "图像"), Text("visible patches", "可见图块"), Text("drawn", "重建结果"))
ERROR = Text(
    "Mean squared error of the hidden patches, pixels in 0-1: {error:.4f}, which is {share:.0f} % of that of filling "
    "them with the mean colour of the visible ones ({simplest:.4f}).",
    "被遮图块的均方误差（像素取 0-1）：{error:.4f}，为用可见图块的平均颜色填充时误差（{simplest:.4f}）的 "
    "{share:.0f} %。",
)


def enlarged(colours: np.ndarray, pixels: int = 600) -> np.ndarray:
    """Convert floats (rows, cols, 3) in 0-1 to uint8, enlarged by a whole factor so that cells keep sharp edges."""
    factor = max(1, pixels // max(colours.shape[:2]))
    return (colours.clip(0, 1) * 255).round().astype(np.uint8).repeat(factor, axis=0).repeat(factor, axis=1)


def draw_colours(page: Page, result: ColoursResult, y: float) -> float:
    """Draw image and colours side by side; missing patches are hatched, because black may be a colour."""
    rows, cols, _ = result.values.shape
    y += TITLE
    per_row, wide = page.columns(2, GAP, 250)
    image = place(result.image, result.grid, Box(page.margin, y, wide, page.high(560, y + page.margin)))
    colours = image.moved(image.right - page.margin + GAP) if per_row == 2 else image.below(34)
    page.text(image.image.x, y - TITLE, NAMES[0], muted=True)
    page.text(colours.image.x, colours.image.y - TITLE, result.unit, muted=True)
    page.picture(image.image, result.image)
    page.picture(colours.cells, enlarged(result.values))
    missing = np.argwhere(~result.shown).tolist()
    hatch(page, [colours.cells.cell(rows, cols, *at) for at in missing], "#9aa2aa", 9)
    return caption_below(page, colours.bottom + 24, result, remarks=(LEFT_OUT,) if missing else ())


def draw_pictures(page: Page, result: PicturesResult, y: float) -> float:
    """Draw each picture with its colours below it, as many side by side as fit."""
    per_row, wide = page.columns(len(result.pictures), CLOSE, LEAST)
    wide = min(MOST, wide)
    bottom = y
    for at, picture in enumerate(result.pictures):
        col = at % per_row
        if col == 0:
            y = bottom + HEADING + (8 if at else 0)
        x = page.margin + col * (wide + CLOSE)
        image = place(picture.image, picture.grid, Box(x, y, wide, wide))
        colours = image.below(4)
        page.text(x, y - HEADING, picture.title, bold=True)
        page.picture(image.image, picture.image)
        page.picture(colours.cells, enlarged(picture.values))
        bottom = max(bottom, colours.bottom)
    return caption_below(page, bottom + 20, result)


def draw_filters(page: Page, result: FiltersResult, y: float) -> float:
    """Draw small colour pictures in rows, each with its share of the variance below it."""
    count, height, width, _ = result.values.shape
    if page.sheet.is_slide:
        narrowest, roomy = 100 if count <= 70 else 60, 80
    else:
        narrowest, roomy = min(100, ((page.sheet.height - y) * page.inner / count) ** 0.5 - 30), 64
    room = Box(page.margin, y, page.inner, 300)
    boxes = tiles(count, (height, width), room, above=0, below=30, narrowest=narrowest)
    for number, (box, picture) in enumerate(zip(boxes, result.values, strict=True)):
        page.picture(box, enlarged(picture, 160))
        words = f"{number}: {percent(result.shares[number])}" if box.width >= roomy else str(number)
        page.small(box.x, box.bottom + 4, words, muted=True)
    return caption_below(page, boxes[-1].bottom + 40, result, remarks=(READING,))


def draw_reconstruction(page: Page, result: ReconstructionResult, y: float) -> float:
    """Draw image, visible patches and drawing, which is large in a window with enough room."""
    height, width, _ = result.values.shape
    boxes = _three(page, y + TITLE, height / width)
    pictures = (result.image, seen(result), result.values)
    for name, box, picture in zip(NAMES, boxes, pictures, strict=True):
        page.text(box.x, box.y - TITLE, name, muted=True)
        page.picture(box, picture)
    remarks = ()
    if math.isfinite(result.error) and result.simplest_error:
        share = 100 * result.error / result.simplest_error
        remarks = (ERROR.format(error=result.error, share=share, simplest=result.simplest_error),)
    return caption_below(page, max(box.bottom for box in boxes) + 24, result, remarks=remarks)


def _three(page: Page, y: float, ratio: float) -> list[Box]:
    """Return boxes in rows, or in a wide window two small ones under each other beside a large one."""
    per_row, wide = page.columns(3, GAP, 150)
    tall = page.high(0, y + 24 + page.margin, 0)
    small = (tall - TITLE - CLOSE) / 2
    if not page.sheet.is_slide and (small + tall) / ratio + GAP <= page.inner:
        first = Box(page.margin, y, small / ratio, small)
        return [first, first._replace(y=y + tall - small), Box(first.right + GAP, y, tall / ratio, tall)]
    tall = wide * ratio
    places = (divmod(number, per_row) for number in range(3))
    return [Box(page.margin + col * (wide + GAP), y + row * (tall + 36), wide, tall) for row, col in places]


def seen(result: ReconstructionResult) -> np.ndarray:
    """Return the image with hidden patches grey."""
    side = result.grid.patch_size
    hidden = result.hidden.repeat(side, 0).repeat(side, 1)
    return np.where(hidden[..., None], np.uint8(HIDDEN_GREY), result.image)


RENDERERS = (
    Renderer(ColoursResult, draw_colours),
    Renderer(PicturesResult, draw_pictures),
    Renderer(FiltersResult, draw_filters),
    Renderer(ReconstructionResult, draw_reconstruction),
)
