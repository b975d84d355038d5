"""Plain vision transformer, trained with labels (Dosovitskiy et al. 2020, arXiv 2010.11929).

Four measures, used only in training, make an hour on a CPU core enough:

- Size: windows of 96, then 128, finally 192 pixels, with resampled position embeddings.
- Zoom: the windows are close about the object at first and widen to the whole scene.
- Fade: at first the object is painted over with its white mask, which fades out.
- Token labels: every patch token also predicts the content of its patch (`labelled`).

The network is shipped without the head of the patch tokens.
"""

from __future__ import annotations

import numpy as np
import timm
from torch import Tensor, nn
from torch.nn import functional as F

from training.crops import Curriculum
from training.labelled import TOKEN_CLASSES, labelled_windows, token_loss
from training.loop import Learner, Schedule, place_positions
from training.measure import classifier_figures
from training.pool import Scenes
from training.recipe import MEAN, STD, Recipe
from vitexplorer.scenes.shapes import LABEL_NAMES, LABEL_NAMES_ZH

STEPS = 7000
CURRICULUM = Curriculum(
    sizes=((5400, 96), (5800, 128), (STEPS, 192)), zooms=((0, 1.0), (4000, 0.0)), paints=((0, 2.0), (2000, -1.0))
)
ARCHITECTURE = "vit_tiny_patch16_224"
MODEL_ARGS = {"img_size": 192, "depth": 6, "num_heads": 3, "num_classes": len(LABEL_NAMES)}


class Supervised(Learner):
    """Network and the head that only training needs."""

    def __init__(self):
        super().__init__()
        self.model = timm.create_model(ARCHITECTURE, **MODEL_ARGS, dynamic_img_size=True)
        place_positions(self.model)
        self.token_head = nn.Linear(self.model.embed_dim, TOKEN_CLASSES)

    def forward(self, scenes: Scenes, rng: np.random.Generator, step: int) -> Tensor:
        """Compute the cross entropy of the class token, and of every patch token's content."""
        cell = self.model.patch_embed.patch_size[0]
        device = self.token_head.weight.device
        batch = labelled_windows(scenes, CURRICULUM, rng, step, cell, device)
        tokens = self.model.forward_features((batch.images - MEAN) / STD)
        whole = F.cross_entropy(self.model.forward_head(tokens).float(), batch.labels, label_smoothing=0.05)
        return whole + token_loss(self.token_head(tokens[:, self.model.num_prefix_tokens :]), batch.shares)


RECIPE = Recipe(
    name="scenes_vit_patch16_192",
    architecture=ARCHITECTURE,
    model_args=MODEL_ARGS,
    learner=Supervised,
    schedule=Schedule(steps=STEPS, learning_rate=3e-3, warmup=100, cosine=7400, cooldown=700),
    num_scenes=24576,
    measure=classifier_figures,
    story="""Learned the class of the object from labels, from random weights: a ViT as in [arXiv
2010.11929](https://arxiv.org/abs/2010.11929) with 6 blocks, 3 heads, 192 wide. Four means that only training has
made it short: windows of 96 pixels for three quarters of the steps, then of 128, at last of 192; they lie close about
the object at first and widen to the whole scene by step 4000; at first the object's white mask is painted over it and
fades out by step 2000; and every patch token also learned to say what lies under it ([token labels, arXiv
2104.10858](https://arxiv.org/abs/2104.10858)). The matrices of the blocks were trained by Muon, the rest by AdamW. The
sizes and the end of the rate were set after 5400 steps of the run, which was stopped and resumed once: before that
it followed a cosine of 8000 steps.""",
    limits="""It can show how a plain vision transformer solves its task: attention, rollout, relevance of a class,
what changes when heads or patches are taken away. It knows twelve paper cut-outs and nothing else: on a photograph its
answer means nothing. The objects' masks were used in training, so that attention on the object is no discovery.""",
    label_names=LABEL_NAMES,
    label_names_zh=LABEL_NAMES_ZH,
)
