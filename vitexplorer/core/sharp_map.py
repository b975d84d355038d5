"""Result of a sharpened view: a map finer than the patches, beside the map of the patches."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from vitexplorer.core.grids import PatchGrid
from vitexplorer.core.types import MapResult


@dataclass(frozen=True, kw_only=True)
class SharpMapResult(MapResult):
    """One map on a grid finer than the patches; what `query` and `window` name are cells of the map of the patches."""

    plain: np.ndarray
    """(rows, cols) map of the patches"""
    plain_grid: PatchGrid
    passes: int
    """Number of passes that the map is the mean of"""

    @property
    def step(self) -> int:
        """Distance between neighbouring shifts in pixels, the side of a cell."""
        return self.grid.patch_size

    def of_patches(self) -> MapResult:
        """Return the map of the patches."""
        parts = {part.name: getattr(self, part.name) for part in fields(MapResult)}
        return MapResult(**parts | {"values": self.plain, "grid": self.plain_grid})
