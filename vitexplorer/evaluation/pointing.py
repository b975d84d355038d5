"""Does the highest place of a map lie on the object? The pointing game.

Zhang et al. 2016 (arXiv 1608.00507), without a margin: 1 if the centre of the highest cell lies on the object, else 0;
ties are broken by the seed. High is good; the chance level is the share of the image that the object covers.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.core.types import PatchGrid
from vitexplorer.evaluation.case import has_object
from vitexplorer.evaluation.protocol import Column, Protocol
from vitexplorer.quantities.faithfulness import ranking


def points_at(
    values: Float[np.ndarray, "rows cols"], grid: PatchGrid, mask: Bool[np.ndarray, "height width"], seed: int = 0
) -> bool:
    """Return True if the centre of the highest cell lies on the mask; ties are broken at random."""
    row, col = divmod(int(ranking(values, seed)[0]), grid.cols)
    half = grid.patch_size // 2
    return bool(mask[row * grid.patch_size + half, col * grid.patch_size + half])


PROTOCOL = Protocol(
    title=Text("Pointing game", "指向游戏"),
    question=Text("Does the highest place of the map lie on the object?", "图中的最高点是否落在物体上？"),
    columns=(Column("pointing", Text("pointing", "指向"), "high"),),
    measure=lambda trial: float(points_at(trial.map.values, trial.map.grid, trial.case.mask, trial.seed)),
    data="scenes",
    paper=Paper("Zhang et al. 2016", "https://arxiv.org/abs/1608.00507"),
    suits=has_object,
)
