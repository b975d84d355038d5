"""Do the highest pixels of a map lie on the target's object? Relevance rank accuracy of CLEVR-XAI.

Arras, Osman & Samek 2022 (arXiv 2003.07258, section 4.2): the share of the K highest pixels that lie inside the
ground-truth mask of K pixels, 0-1, high is good; the chance level is the share of the image that the object covers.
Pixels of a patch are equal, and patches may tie: pixels that tie at rank K count by the share of them that the mask
covers, the mean over all orders.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.core.types import PatchGrid
from vitexplorer.evaluation.case import covered_cells, has_object
from vitexplorer.evaluation.protocol import Column, Protocol


def rank_accuracy(
    values: Float[np.ndarray, "rows cols"], grid: PatchGrid, mask: Bool[np.ndarray, "height width"]
) -> float:
    """Return the share of the K highest pixels that lie on a mask of K pixels, 0-1; 0 for an empty mask."""
    covered = covered_cells(mask, grid).ravel()
    mask_cells = covered.sum()  # all areas are in cells
    if mask_cells == 0:
        return 0.0
    _, group = np.unique(-values.ravel(), return_inverse=True)
    cells, inside = np.bincount(group), np.bincount(group, covered)
    taken = np.clip(mask_cells - (cells.cumsum() - cells), 0, cells)
    return float((inside * taken / cells).sum() / mask_cells)


PROTOCOL = Protocol(
    title=Text("Relevance rank accuracy", "相关性排序准确率"),
    question=Text(
        "Do the highest places of the map lie on the class's object?", "图中数值最高处是否落在该类别的物体上？"
    ),
    columns=(Column("rank_accuracy", Text("rank accuracy", "相关性排序"), "high"),),
    measure=lambda trial: rank_accuracy(trial.map.values, trial.map.grid, trial.case.mask),
    data="grids",
    paper=Paper("Arras et al. 2022", "https://arxiv.org/abs/2003.07258"),
    suits=has_object,
)
