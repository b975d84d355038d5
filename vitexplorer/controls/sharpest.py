"""Default patch of views that need one: the patch with the sharpest edges, since plain ground shows little."""

from __future__ import annotations

import numpy as np
from jaxtyping import UInt8

from vitexplorer.core.types import PatchGrid

LUMA = (0.299, 0.587, 0.114)
"""Weights of red, green and blue in the luma, ITU-R BT.601"""


def sharpest_patch(pixels: UInt8[np.ndarray, "height width 3"], grid: PatchGrid) -> tuple[int, int]:
    """Return row and column of the patch with the largest sum of luma gradients; the first of equals.

    Patches that reach beyond the image have fewer pixels to sum.
    """
    steep = np.hypot(*np.gradient(pixels @ np.array(LUMA)))
    side = grid.patch_size
    inside = steep[: grid.rows * side, : grid.cols * side]
    rows = np.add.reduceat(inside, np.arange(0, inside.shape[0], side), axis=0)
    sums = np.add.reduceat(rows, np.arange(0, inside.shape[1], side), axis=1)
    row, col = np.unravel_index(sums.argmax(), sums.shape)
    return int(row), int(col)
