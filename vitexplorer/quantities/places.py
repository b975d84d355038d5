"""Matching places of two captures: the same part of the image, and the same share of the depth.

Grids may differ (ViT 12 x 12 beside Swin 24 x 24) and so may the pixels of the input. A place is a share of height and
width of the picture that a model saw, so it is the same part of the image only if both models fit it in the same way.
"""

from __future__ import annotations

import numpy as np

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.types import Query


def matched(block: int, depth: int, other: int) -> int:
    """Return the block, of `other` blocks, at the same share of the depth as `block` of `depth` blocks."""
    return round(block * (other - 1) / (depth - 1)) if depth > 1 else other - 1


def placed(query: Query, here: tuple[Capture, int], there: tuple[Capture, int]) -> Query:
    """Return the patch of one block at the place of another block's patch, possibly in another capture.

    The centre of a patch's visible part, as shares of the image's height and width, is looked up in the other image.
    A prefix token that the other model does not have becomes "mean", the mean over its patches.
    """
    (one, block), (other, to) = here, there
    if isinstance(query, str):
        return query if query == "mean" or query in other.prefix_tokens else "mean"
    side, grid = one.grid(block).patch_size, other.grid(to)
    lengths = zip(query, one.input.pixels.shape, other.input.pixels.shape, (grid.rows, grid.cols), strict=False)
    row, col = (
        min(most - 1, (at * side + min(long, (at + 1) * side)) * wide // (2 * long * grid.patch_size))
        for at, long, wide, most in lengths
    )
    return row, col


def read_at(values: np.ndarray, there: tuple[Capture, int], here: tuple[Capture, int]) -> np.ndarray:
    """Read a map of one block at the patch centres of another block, (rows, cols, ...) of that block's grid."""
    grid = here[0].grid(here[1])
    read = [[values[placed((row, col), here, there)] for col in range(grid.cols)] for row in range(grid.rows)]
    return np.array(read)


def same_places(left: Capture, right: Capture) -> bool:
    """Return True if both captures saw the same part of the same image."""
    one, other = left.input, right.input
    seen = [(x.image_hash, x.fit, x.pixels.shape[0] / x.pixels.shape[1]) for x in (one, other)]
    return seen[0] == seen[1]
