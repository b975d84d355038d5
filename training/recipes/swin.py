"""Swin: attention in windows that shift, on a grid that halves from stage to stage (Liu et al. 2021, arXiv 2103.14030).

A plain timm configuration: patches of 4 pixels, windows of 6 x 6, a third of Swin-T's width and ten blocks. Windows of
scenes, zoom, fade and token labels as in the supervised recipe; a token of the last stage stands for 32 pixels.
"""

from __future__ import annotations

import numpy as np
import timm
from torch import Tensor, nn
from torch.nn import functional as F

from training.crops import Curriculum
from training.labelled import TOKEN_CLASSES, labelled_windows, token_loss
from training.loop import Learner, Schedule
from training.measure import accuracy_figures
from training.pool import Scenes
from training.recipe import MEAN, STD, Recipe
from vitexplorer.scenes.shapes import LABEL_NAMES, LABEL_NAMES_ZH

STEPS = 4000
CURRICULUM = Curriculum(
    sizes=((3400, 96), (STEPS, 192)), zooms=((0, 1.0), (2000, 0.0)), paints=((0, 2.0), (1000, -1.0))
)
ARCHITECTURE = "swin_tiny_patch4_window7_224"
MODEL_ARGS = {
    "img_size": 192,
    "window_size": 6,
    "embed_dim": 32,
    "depths": (2, 2, 4, 2),
    "num_heads": (1, 2, 4, 8),
    "num_classes": len(LABEL_NAMES),
}
STRIDE = 32
"""Pixels of a cell of the last stage"""


class Swin(Learner):
    """Network and the head that only training needs."""

    def __init__(self):
        super().__init__()
        self.model = timm.create_model(ARCHITECTURE, **MODEL_ARGS, strict_img_size=False)
        self.token_head = nn.Linear(self.model.num_features, TOKEN_CLASSES)

    def forward(self, scenes: Scenes, rng: np.random.Generator, step: int) -> Tensor:
        """Compute the cross entropy of the class, and of the content of every token of the last stage."""
        batch = labelled_windows(scenes, CURRICULUM, rng, step, STRIDE, self.token_head.weight.device)
        tokens = self.model.forward_features((batch.images - MEAN) / STD)
        whole = F.cross_entropy(self.model.forward_head(tokens).float(), batch.labels, label_smoothing=0.05)
        return whole + token_loss(self.token_head(tokens).flatten(1, 2), batch.shares)


RECIPE = Recipe(
    name="scenes_swin_patch4_window6_192",
    architecture=ARCHITECTURE,
    model_args=MODEL_ARGS,
    learner=Swin,
    schedule=Schedule(steps=STEPS, learning_rate=3e-3, warmup=100, cosine=STEPS, cooldown=400),
    num_scenes=24576,
    measure=accuracy_figures,
    story="""A Swin ([arXiv 2103.14030](https://arxiv.org/abs/2103.14030)) with 2, 2, 4 and 2 blocks, 32 to 256 wide, on
grids of 48, 24, 12 and 6 cells a side in windows of 6, from random weights. Windows of 96 pixels for most of the steps,
then of 192; they lie close about the object at first and widen to the whole scene; at first the object's white mask is
painted over it and fades out; every token of the last stage also learned to say what lies under it ([token labels,
arXiv 2104.10858](https://arxiv.org/abs/2104.10858)). The matrices of the blocks were trained by Muon, the rest by
AdamW.""",
    limits="""It can show attention in shifted windows, the grid that halves, and relevance without a class token. Its
last stage has 6 x 6 cells: maps made there are coarse. It knows twelve paper cut-outs and nothing else: on a photograph
its answer means nothing. The objects' masks were used in training.""",
    label_names=LABEL_NAMES,
    label_names_zh=LABEL_NAMES_ZH,
)
