"""Relevance mass accuracy of CLEVR-XAI: the share of a map's positive relevance on the target's object.

Arras, Osman & Samek 2022 (arXiv 2003.07258, section 4.2): positive relevance inside the ground-truth mask over all
positive relevance, 0-1, high is good. A patch's relevance is spread evenly over its pixels, so the numerator is the sum
of relevance times the share of the patch that the mask covers. 0 for a map without positive relevance. The chance level
is the share of the image that the object covers.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.core.types import PatchGrid
from vitexplorer.evaluation.case import covered_cells, has_object
from vitexplorer.evaluation.protocol import Column, Protocol


def mass_accuracy(
    values: Float[np.ndarray, "rows cols"], grid: PatchGrid, mask: Bool[np.ndarray, "height width"]
) -> float:
    """Return the share of a map's positive part that lies on a mask, 0-1."""
    positive = np.clip(values, 0, None).astype(float)
    total = positive.sum()
    return float((positive * covered_cells(mask, grid)).sum() / total) if total > 0 else 0.0


PROTOCOL = Protocol(
    title=Text("Relevance mass accuracy", "相关性占比准确率"),
    question=Text(
        "How much of the evidence for the class is on its object?", "支持该类别的相关性有多少落在它的物体上？"
    ),
    columns=(Column("mass_accuracy", Text("mass accuracy", "相关性占比"), "high"),),
    measure=lambda trial: mass_accuracy(trial.map.values, trial.map.grid, trial.case.mask),
    data="grids",
    paper=Paper("Arras et al. 2022", "https://arxiv.org/abs/2003.07258"),
    suits=has_object,
)
