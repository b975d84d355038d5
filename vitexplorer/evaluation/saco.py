"""Do patches with more salience matter more, in proportion? The salience-guided faithfulness coefficient, SaCo.

Wu, Kang, Tang, Hong & Yan 2024 (arXiv 2404.01415, section 4, algorithm 1): patches in the map's order are cut into
K = 10 groups of equal size; each group alone is replaced by the image's mean colour, which takes p(x) - p(x without it)
from the probability of the class (for a model with one output, from that output). A pair of groups agrees with the map
if the one with more salience takes at least as much. Its weight is the difference of the saliences, negative if it does
not agree. The score is the sum of the weights over the sum of their absolute values, -1 to 1, high is good, 0 by
chance; 0 also for a map without differences between groups.
Misleading: salience is compared with probability as if both were amounts; rescaling a map without changing its order
changes the score.
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float

from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.evaluation.case import Trial
from vitexplorer.evaluation.protocol import Column, Protocol
from vitexplorer.quantities.faithfulness import ranking, runs_for, values_exchanged
from vitexplorer.quantities.perturbation import patch_of_pixel

GROUPS = 10


def coefficient(salience: Float[np.ndarray, " groups"], falls: Float[np.ndarray, " groups"]) -> float:
    """Compute the coefficient, -1 to 1, from the groups' saliences, largest first, and the falls without each."""
    first, second = np.triu_indices(len(salience), 1)
    weights = (salience[first] - salience[second]).astype(float)
    agree = falls[first] >= falls[second]
    total = np.abs(weights).sum()
    return float(np.where(agree, weights, -weights).sum() / total) if total > 0 else 0.0


@torch.no_grad()
def saco(trial: Trial) -> float:
    """Compute the coefficient of a map, -1 to 1."""
    grid = trial.last_grid
    image = trial.capture.input.tensor
    values = trial.on_last_grid
    groups = np.array_split(ranking(values, trial.seed), min(GROUPS, grid.num_patches))
    taken = np.zeros((1 + len(groups), grid.num_patches + 1), bool)
    for at, group in enumerate(groups, 1):
        taken[at, group] = True
    pixels = torch.from_numpy(taken)[:, patch_of_pixel(grid, *image.shape[-2:])].to(image.device)
    mean = image.mean((-2, -1), keepdim=True).expand_as(image)
    answers = values_exchanged(
        runs_for(trial.capture, trial.target, len(pixels)), trial.capture, trial.target, mean, pixels
    )
    return coefficient(np.array([values.ravel()[group].sum() for group in groups]), answers[0] - answers[1:])


PROTOCOL = Protocol(
    title=Text("Salience-guided faithfulness", "显著性引导的忠实度"),
    question=Text(
        "Does the class lose more when a group of patches with higher values in the map is removed?",
        "图中数值较高的图块组被移除时，对该类别的影响是否也更大？",
    ),
    columns=(Column("saco", Text("SaCo", "显著性忠实度"), "high"),),
    measure=saco,
    data="scenes",
    paper=Paper("Wu et al. 2024", "https://arxiv.org/abs/2404.01415"),
    targets=40,
)
