"""What a protocol is asked about: an image with a class and the truth about it, and a map of one method for it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Bool, Float, UInt8

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.types import MapResult, PatchGrid
from vitexplorer.evaluation.parted import Parted
from vitexplorer.quantities.faithfulness import coarsened

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Case:
    """One class to be explained in one image, of the model's input size, and where the truth lies."""

    image: UInt8[np.ndarray, "height width 3"]
    """RGB, 0-255; cases of the same image hold the same array"""
    target: int
    mask: Bool[np.ndarray, "height width"] | None = None
    """pixels of the object of that class"""
    cell: Bool[np.ndarray, "height width"] | None = None
    """pixels of the grid's cell that shows it, where the image is a grid of several"""
    parted: Parted | None = None
    """the same picture with parts that can be taken away"""


Explain = Callable[[Capture, int], MapResult]
"""The map of one method for a class in any capture."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A case, what one method says of it, and the means to ask it again."""

    capture: Capture
    case: Case
    map: MapResult
    explain: Explain
    seed: int
    """of everything that is drawn; the same for every method"""
    of_image: dict[Hashable, Any] = field(default_factory=dict)
    """what all trials of one image share, by what it is"""
    of_model: dict[Hashable, Any] = field(default_factory=dict)
    """what all trials of one model share"""

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, made for the first trial of the image that asks."""
        return _kept(self.of_image, key, make)

    def once_for_all(self, key: Hashable, make: Callable[[], T]) -> T:
        """The same for the first trial of the model."""
        return _kept(self.of_model, key, make)

    @property
    def last_grid(self) -> PatchGrid:
        """Patch grid of the last block: what is taken from the image, so that all methods take the same pieces."""
        return self.capture.grid(self.capture.depth - 1)

    @property
    def on_last_grid(self) -> Float[np.ndarray, "rows cols"]:
        """The map on that grid; a finer one (Swin) is summed over its cells."""
        return coarsened(self.map.values, self.map.grid, self.last_grid)


def covered_cells(mask: Bool[np.ndarray, "height width"], grid: PatchGrid) -> Float[np.ndarray, "rows cols"]:
    """How much of each cell the mask covers, 0-1; pixels beyond the last whole cell are left out."""
    side = grid.patch_size
    whole = mask[: grid.rows * side, : grid.cols * side]
    return whole.reshape(grid.rows, side, grid.cols, side).mean((1, 3))


def _kept(kept: dict[Hashable, Any], key: Hashable, make: Callable[[], T]) -> T:
    if key not in kept:
        kept[key] = make()
    return kept[key]
