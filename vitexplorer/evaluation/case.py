"""Input of a protocol: an image with a class and the truth about it, and a method's map of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Bool, Float, UInt8

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import AnyTargetControl
from vitexplorer.controls.explained import Target
from vitexplorer.core.types import MapResult, PatchGrid
from vitexplorer.evaluation.parted import Parted
from vitexplorer.quantities.faithfulness import coarsened

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Case:
    """Image of the model's input size, a class or a text to explain, and the true place of what it means."""

    image: UInt8[np.ndarray, "height width 3"]
    """RGB, 0-255; cases of the same image hold the same array"""
    target: int | str
    """The class, or a text for a model that reads texts, "text: a red gear\""""
    mask: Bool[np.ndarray, "height width"] | None = None
    """Pixels of the object of that class"""
    cell: Bool[np.ndarray, "height width"] | None = None
    """Pixels of its grid cell, if the image is a grid of several objects"""
    parted: Parted | None = None
    """The same picture with removable parts"""


Explain = Callable[[Capture, int | str], MapResult]
"""Function of a method: (capture, target of a case) -> map"""


@dataclass(frozen=True, eq=False)
class Trial:
    """Case, a method's map of it, and the function for further maps."""

    capture: Capture
    case: Case
    map: MapResult
    explain: Explain
    seed: int
    """Seed of all random draws; the same for every method"""
    of_image: dict[Hashable, Any] = field(default_factory=dict)
    """Cache shared by all trials of one image"""
    of_model: dict[Hashable, Any] = field(default_factory=dict)
    """Cache shared by all trials of one model"""

    @property
    def target(self) -> Target:
        """Target of the case, a text with its vector."""
        return AnyTargetControl().parse(self.case.target, self.capture, {})

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result of `make`, computed once per image."""
        return _cached(self.of_image, key, make)

    def once_for_all(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result of `make`, computed once per model."""
        return _cached(self.of_model, key, make)

    @property
    def last_grid(self) -> PatchGrid:
        """Patch grid of the last block: the patches that are removed, the same for all methods."""
        return self.capture.grid(self.capture.depth - 1)

    @property
    def on_last_grid(self) -> Float[np.ndarray, "rows cols"]:
        """Map on that grid; a finer map (Swin) is summed over its cells."""
        return coarsened(self.map.values, self.map.grid, self.last_grid)


def has_object(case: Case) -> bool:
    """Return True if the object of a case is known and visible."""
    return case.mask is not None and bool(case.mask.any())


def covered_cells(mask: Bool[np.ndarray, "height width"], grid: PatchGrid) -> Float[np.ndarray, "rows cols"]:
    """Return the share of each cell that the mask covers, 0-1; pixels beyond the last whole cell are ignored."""
    side = grid.patch_size
    whole = mask[: grid.rows * side, : grid.cols * side]
    return whole.reshape(grid.rows, side, grid.cols, side).mean((1, 3))


def _cached(cache: dict[Hashable, Any], key: Hashable, make: Callable[[], T]) -> T:
    if key not in cache:
        cache[key] = make()
    return cache[key]
