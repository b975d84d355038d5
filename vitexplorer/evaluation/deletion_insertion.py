"""Does the class disappear with the patches that a map ranks highest, and return with them? Deletion and insertion.

Petsiuk et al. 2018 (arXiv 1806.07421), computed by the view `faithfulness` with ten steps: the area under the
probability of the class while patches, in the map's order, become the mean colour (0-1, low is good), and while they
are restored to the blurred image (0-1, high is good). For a model with one output the curves show that output, and the
areas are in its unit; for a text they show its cosine with the image.
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float

from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.evaluation.case import Trial
from vitexplorer.evaluation.protocol import Column, Protocol
from vitexplorer.quantities.faithfulness import faithfulness

STEPS = 10


@torch.no_grad()
def areas(trial: Trial) -> Float[np.ndarray, " curves"]:
    """Compute the areas under the deletion and the insertion curve of a map."""
    return faithfulness(trial.capture, trial.target, [trial.map], STEPS, trial.seed, None).areas[0]


PROTOCOL = Protocol(
    title=Text("Deletion and insertion", "删除与插入"),
    question=Text(
        "Does the class disappear with the patches that the map ranks highest, and return with them?",
        "去掉图中排名最高的图块，该类别是否消失？放回之后是否恢复？",
    ),
    columns=(
        Column("deletion", Text("deletion", "删除"), "low"),
        Column("insertion", Text("insertion", "插入"), "high"),
    ),
    measure=areas,
    data="scenes",
    paper=Paper("Petsiuk et al. 2018", "https://arxiv.org/abs/1806.07421"),
    targets=40,
)
