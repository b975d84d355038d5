"""What are the tokens of this image? The patches the model cuts it into, row by row.

ViT (Dosovitskiy et al. 2021, arXiv 2010.11929, section 3.1) reads an image of H x W pixels as (H / P)(W / P) patches
of P x P pixels. A hybrid cuts the feature map of a CNN instead: the view shows its cells, but each cell depends on more
pixels than those inside it.
"""

from __future__ import annotations

import numpy as np
from einops import rearrange

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.format import counted
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.core.types import PatchesResult, PatchGrid
from vitexplorer.views.record import View


def patches(pixels: np.ndarray, grid: PatchGrid) -> np.ndarray:
    """Cut uint8 (height, width, 3) into (rows * cols, P, P, 3), row by row; pixels beyond the last patch go."""
    whole = pixels[: grid.rows * grid.patch_size, : grid.cols * grid.patch_size]
    return rearrange(whole, "(rows p) (cols q) c -> (rows cols) p q c", rows=grid.rows, cols=grid.cols)


def compute(capture: Capture) -> PatchesResult:
    """Cut the pixels that the model saw into patches, on the grid of its first block."""
    grid, pixels = capture.grid(0), capture.input.pixels
    return PatchesResult(
        values=patches(pixels, grid),
        axes=("patches", "height", "width", "channels"),
        unit=Text("8-bit RGB", "8 位 RGB"),
        formula=f"N = (H/P)(W/P) = {grid.rows} x {grid.cols} = {grid.num_patches}, P = {grid.patch_size}",
        grid=grid,
        image=pixels,
    )


def reading(result: PatchesResult) -> Text:
    """State the numbers and sizes of the patches."""
    grid, (height, width) = result.grid, result.image.shape[:2]
    return Text(
        "The image of {height} × {width} pixels becomes {rows} × {cols} = {patches} patches of {side} × {side} pixels, "
        "{numbers} numbers each.",
        "{height} × {width} 像素的图像变成 {rows} × {cols} = {patches} 个 {side} × {side} 像素的图块，"
        "每个图块 {numbers} 个数。",
    ).format(
        height=height,
        width=width,
        rows=grid.rows,
        cols=grid.cols,
        patches=counted(grid.num_patches),
        side=grid.patch_size,
        numbers=counted(result.values[0].size),
    )


VIEW = View(
    title=Text("Patch grid", "图块网格"),
    question=Text("What are the tokens of this image?", "这幅图像的标记（token）是什么？"),
    misleads=Text(
        "A patch is where a token starts. After the first block every token has seen the others.",
        "图块只是标记的起点：经过第一个块之后，每个标记都已看到其他标记。",
    ),
    room="patches",
    compute=compute,
    reads=(),
    reading=reading,
    paper=Paper("Dosovitskiy et al. 2021", "https://arxiv.org/abs/2010.11929"),
)
