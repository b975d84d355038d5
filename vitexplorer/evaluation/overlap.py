"""Do the cells that hold most of a map cover the object? Intersection over union.

Compares the cells that together hold 60 % of the map's positive part with the object's mask, in pixels, 0-1, high is
good; 0 for a map without a positive part. This is the protocol of DINO for attention (Caron et al. 2021, arXiv
2104.14294, section 4.2.2).
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.core.types import PatchGrid
from vitexplorer.evaluation.case import has_object
from vitexplorer.evaluation.protocol import Column, Protocol

KEEP_MASS = 0.6
"""Share of a map's sum that the selected cells hold together"""


def mass_mask(rows: np.ndarray, keep_mass: float = KEEP_MASS) -> np.ndarray:
    """Select the largest patches that hold `keep_mass` of each row of weights; bool, (..., patches) like `rows`.

    Rows are divided by their sum and sorted ascending; patches are selected once the running sum exceeds 1 - keep_mass.
    """
    rows = rows / rows.sum(-1, keepdims=True)
    order = rows.argsort(-1)
    held = np.take_along_axis(rows, order, -1).cumsum(-1) > 1 - keep_mass
    mask = np.zeros(rows.shape, bool)
    np.put_along_axis(mask, order, held, -1)
    return mask


def overlap(values: Float[np.ndarray, "rows cols"], grid: PatchGrid, mask: Bool[np.ndarray, "height width"]) -> float:
    """Compute the intersection over union of the mask and the cells that hold 60 % of the positive part."""
    positive = values.clip(0)
    if not positive.any():
        return 0.0
    selected = mass_mask(positive.ravel()).reshape(positive.shape)
    selected = selected.repeat(grid.patch_size, 0).repeat(grid.patch_size, 1)
    return float((selected & mask).sum() / (selected | mask).sum())


PROTOCOL = Protocol(
    title=Text("Overlap with the object", "与物体的重叠"),
    question=Text("Do the cells that hold most of the map cover the object?", "占图中大部分总值的格子是否覆盖物体？"),
    columns=(Column("overlap", Text("overlap", "重叠"), "high"),),
    measure=lambda trial: overlap(trial.map.values, trial.map.grid, trial.case.mask),
    data="scenes",
    paper=Paper("Caron et al. 2021, section 4.2.2", "https://arxiv.org/abs/2104.14294"),
    suits=has_object,
)
