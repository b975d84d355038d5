"""What of one capture lies beside what of another: the same place of the image, the same share of the depth.

Grids may differ (ViT 12 x 12 beside Swin 24 x 24) and so may the pixels of the input. A place is a share of height and
width of the picture that a model saw, so that it is the same part of the image only where both fit it in the same way.
"""

from __future__ import annotations

import numpy as np

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.types import Query


def matched(block: int, depth: int, other: int) -> int:
    """The block of a network of `other` blocks at the share of the depth at which `block` is among `depth`."""
    return round(block * (other - 1) / (depth - 1)) if depth > 1 else other - 1


def placed(query: Query, here: tuple[Capture, int], there: tuple[Capture, int]) -> Query:
    """The patch of one block that lies where a patch of another does, which may be of another capture.

    Where the middle of what its image shows of a patch lies, in shares of the image's height and width, is looked up in
    the other image. A token without a place that the other one has not is its mean over patches.
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
    """A map on the grid of one block read at the middles of the patches of another, (rows, cols, ...) of that one."""
    grid = here[0].grid(here[1])
    read = [[values[placed((row, col), here, there)] for col in range(grid.cols)] for row in range(grid.rows)]
    return np.array(read)


def same_places(left: Capture, right: Capture) -> bool:
    """Whether both saw the same part of the same image."""
    one, other = left.input, right.input
    seen = [(x.image_hash, x.fit, x.pixels.shape[0] / x.pixels.shape[1]) for x in (one, other)]
    return seen[0] == seen[1]
