"""Where the tokens of a block lie in the image: its patch grid, and the windows that cut it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitexplorer.core.summaries import described

PADDING = -32768  # the position of a token that timm added to fill a window


@dataclass(frozen=True)
class PatchGrid:
    """Where the patch tokens of one block lie in the image."""

    rows: int
    cols: int
    patch_size: int
    """side of one cell in pixels of the model's input (grows from stage to stage in Swin)"""
    num_prefix_tokens: int = 0

    @property
    def num_patches(self) -> int:
        """Patch tokens, rows x cols."""
        return self.rows * self.cols


@described.register
def _(grid: PatchGrid) -> str:
    return f"{grid.rows} × {grid.cols} patches of {grid.patch_size} px"


@dataclass(frozen=True)
class WindowLayout:
    """How one windowed block cuts its patch grid: cyclic shift, padding at the lower right, then windows."""

    window_size: tuple[int, int]
    shift_size: tuple[int, int]

    def positions(self, grid: PatchGrid) -> np.ndarray:
        """Int (windows, tokens of a window): index in the patch grid of every token, `PADDING` for added ones.

        Undoes, in this order, window partition, padding and cyclic shift (Swin, arXiv 2103.14030, section 3.2).
        """
        index = np.arange(grid.num_patches).reshape(grid.rows, grid.cols)
        index = np.roll(index, (-self.shift_size[0], -self.shift_size[1]), axis=(0, 1))
        height, width = self.window_size
        padding = ((0, -grid.rows % height), (0, -grid.cols % width))
        index = np.pad(index, padding, constant_values=PADDING)
        windows = index.reshape(index.shape[0] // height, height, index.shape[1] // width, width).swapaxes(1, 2)
        return np.ascontiguousarray(windows.reshape(-1, height * width))


@dataclass(frozen=True, eq=False)
class TokenLayout:
    """Where the queries and the keys of a block lie where they are not the same tokens, or not in plain windows.

    Both are int (windows, tokens): an index in the grid, row by row; -1 - i for prefix token i; `PADDING`.
    """

    queries: np.ndarray
    """in the block's own grid"""
    keys: np.ndarray
    """in `key_grid`"""
    key_grid: PatchGrid
