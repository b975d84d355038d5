"""Patch grids and windows: the places of a block's tokens in the image."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitexplorer.core.summaries import described

PADDING = -32768  # the position of a token that timm added to fill a window


@dataclass(frozen=True)
class PatchGrid:
    """The patch tokens of one block, in rows and columns."""

    rows: int
    cols: int
    patch_size: int
    """Side of one cell in pixels of the model's input (grows from stage to stage in Swin)"""
    num_prefix_tokens: int = 0

    @property
    def num_patches(self) -> int:
        """Number of patch tokens, rows x cols."""
        return self.rows * self.cols

    @property
    def indices(self) -> np.ndarray:
        """Index of every patch at its place, int (rows, cols)."""
        return np.arange(self.num_patches).reshape(self.rows, self.cols)

    @property
    def positions(self) -> np.ndarray:
        """Places of all tokens as one window, int (1, tokens): -1 - i for prefix token i, then each patch's index."""
        return np.concatenate([-1 - np.arange(self.num_prefix_tokens), np.arange(self.num_patches)])[None]


@described.register
def _(grid: PatchGrid) -> str:
    return f"{grid.rows} × {grid.cols} patches of {grid.patch_size} px"


@dataclass(frozen=True)
class WindowLayout:
    """Windows of one block: cyclic shift, padding at the lower right, then the partition."""

    window_size: tuple[int, int]
    shift_size: tuple[int, int]

    def positions(self, grid: PatchGrid) -> np.ndarray:
        """Return the patch-grid index of every token, int (windows, tokens of a window); `PADDING` for added ones.

        Undoes, in this order, window partition, padding and cyclic shift (Swin, arXiv 2103.14030, section 3.2).
        """
        index = np.roll(grid.indices, (-self.shift_size[0], -self.shift_size[1]), axis=(0, 1))
        height, width = self.window_size
        padding = ((0, -grid.rows % height), (0, -grid.cols % width))
        index = np.pad(index, padding, constant_values=PADDING)
        windows = index.reshape(index.shape[0] // height, height, index.shape[1] // width, width).swapaxes(1, 2)
        return np.ascontiguousarray(windows.reshape(-1, height * width))


@dataclass(frozen=True, eq=False)
class TokenLayout:
    """Places of a block's queries and keys where these differ, or are not in plain windows.

    Both are int (windows, tokens): an index in the grid, row by row; -1 - i for prefix token i; `PADDING`.
    """

    queries: np.ndarray
    """Indices in the block's own grid"""
    keys: np.ndarray
    """Indices in `key_grid`"""
    key_grid: PatchGrid
