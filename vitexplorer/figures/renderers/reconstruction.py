"""Three pictures side by side: the image, the visible patches, and the model's drawing."""

from __future__ import annotations

import math

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.core.types import ReconstructionResult
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.caption import facts
from vitexplorer.figures.captioned import facts_below
from vitexplorer.figures.page import Page
from vitexplorer.figures.rendering import Renderer

GAP = 24
HIDDEN_GREY = 128
NAMES = (Text("image", "图像"), Text("visible patches", "可见图块"), Text("drawn", "重建结果"))
_ERROR = Text(
    "Mean squared error of the hidden patches, pixels in 0-1: {error:.4f}, which is {share:.0f} % of that of filling "
    "them with the mean colour of the visible ones ({simplest:.4f}).",
    "被遮图块的均方误差（像素取 0-1）：{error:.4f}，为用可见图块的平均颜色填充时误差（{simplest:.4f}）的 "
    "{share:.0f} %。",
)


def seen(result: ReconstructionResult) -> np.ndarray:
    """Return the image with hidden patches grey."""
    side = result.grid.patch_size
    hidden = result.hidden.repeat(side, 0).repeat(side, 1)
    return np.where(hidden[..., None], np.uint8(HIDDEN_GREY), result.image)


def draw(page: Page, result: ReconstructionResult) -> float:
    """Draw image, visible patches and drawing."""
    height, width, _ = result.values.shape
    per_row = page.per_row(3, GAP, 150)
    side = (page.inner - GAP * (per_row - 1)) / per_row
    y = page.header(result) + 26
    for number, (name, picture) in enumerate(zip(NAMES, (result.image, seen(result), result.values), strict=True)):
        row, col = divmod(number, per_row)
        box = Box(page.margin + col * (side + GAP), y + row * (side * height / width + 36), side, side * height / width)
        page.text(box.x, box.y - 26, name, color=page.theme.muted)
        page.picture(box, picture)
    remarks = ()
    if math.isfinite(result.error) and result.simplest_error:
        share = 100 * result.error / result.simplest_error
        remarks = (_ERROR.format(error=result.error, share=share, simplest=result.simplest_error),)
    return facts_below(page, box.bottom + 24, facts(result, remarks=remarks))


RENDERER = Renderer(ReconstructionResult, draw)
