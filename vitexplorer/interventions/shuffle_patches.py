"""Is the image more than a bag of patches? Shuffle its patches before the model reads them.

A patch is a cell of the last block's grid: in Swin 32 pixels, not 4. Pixels that do not fill a cell stay. Together
with `positions` off, the answer of a plain vision transformer does not change (Naseer et al. 2021, arXiv 2105.10497,
section 3.2, shuffle images in the same way). The view `before_after` puts maps back in the original order.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Int, UInt8

from vitexplorer.capturing.capture import Capture, Moved
from vitexplorer.controls import Number
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.core.types import PatchGrid
from vitexplorer.interventions.changed_pass import Effect, Intervention


def shuffled_order(grid: PatchGrid, size: tuple[int, int], seed: int) -> Int[np.ndarray, " patches"]:
    """Return the source patch of each place; patches that reach beyond an image of `size` stay in place."""
    index = grid.indices
    whole = index[: size[0] // grid.patch_size, : size[1] // grid.patch_size].ravel()
    order = index.ravel().copy()
    order[whole] = np.random.default_rng(seed).permutation(whole)
    return order


def rearranged(pixels: UInt8[np.ndarray, "height width 3"], moved: Moved) -> UInt8[np.ndarray, "height width 3"]:
    """Return the image with its patches in the order of `moved`."""
    side, cols, out = moved.grid.patch_size, moved.grid.cols, pixels.copy()
    for place, source in enumerate(moved.order):
        if place != source:
            (row, col), (from_row, from_col) = (divmod(int(cell), cols) for cell in (place, source))
            out[row * side : (row + 1) * side, col * side : (col + 1) * side] = pixels[
                from_row * side : (from_row + 1) * side, from_col * side : (from_col + 1) * side
            ]
    return out


def effect(capture: Capture, seed: int) -> Effect:
    """Return the shuffled image with the origin of its patches."""
    grid = capture.grid(capture.depth - 1)
    moved = Moved(grid, shuffled_order(grid, capture.input.pixels.shape[:2], seed))
    return Effect(pixels=lambda pixels: rearranged(pixels, moved), moved=moved)


def says(capture: Capture, seed: int) -> Text:
    """Describe the change with its seed."""
    return Text("patches shuffled (seed {seed})", "图块打乱（种子 {seed}）").format(seed=seed)


INTERVENTION = Intervention(
    title=Text("Patches shuffled", "打乱图块"),
    question=Text("Is the image more than a bag of patches?", "图像只是一袋图块吗？"),
    misleads=Text(
        "The seams between patches are edges that do not occur in photographs.", "图块之间的接缝是照片中不会有的边缘。"
    ),
    acts=1,
    effect=effect,
    says=says,
    controls=(Number("seed", Text("Seed", "随机种子"), low=0, high=999, step=1, whole=True),),
    paper=Paper("Naseer et al. 2021", "https://arxiv.org/abs/2105.10497"),
)
