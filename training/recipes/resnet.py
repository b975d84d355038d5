"""Small residual network (He et al. 2015, arXiv 1512.03385): DeiT's teacher, and a CNN for comparison.

timm's ResNet-10-T with channels halved, for pictures of 96 pixels. Windows widen and the painted mask fades out as in
the supervised recipe; there are no token labels.
"""

from __future__ import annotations

import numpy as np
import timm
from torch import Tensor
from torch.nn import functional as F

from training.crops import Curriculum
from training.labelled import labelled_windows
from training.loop import Learner, Schedule
from training.measure import accuracy_figures
from training.pool import Scenes
from training.recipe import MEAN, STD, Recipe
from vitexplorer.scenes.shapes import LABEL_NAMES, LABEL_NAMES_ZH

STEPS = 2400
SIZE = 96
CURRICULUM = Curriculum(sizes=((STEPS, SIZE),), zooms=((0, 1.0), (1000, 0.0)), paints=((0, 2.0), (400, -1.0)))
ARCHITECTURE = "resnet10t"
MODEL_ARGS = {"stem_width": 16, "channels": (32, 64, 128, 256), "num_classes": len(LABEL_NAMES)}
STRIDE = 32
"""Pixels of a cell of the last feature map"""


class ResNet(Learner):
    """Network without additions."""

    def __init__(self):
        super().__init__()
        self.model = timm.create_model(ARCHITECTURE, **MODEL_ARGS)

    def forward(self, scenes: Scenes, rng: np.random.Generator, step: int) -> Tensor:
        """Compute the cross entropy of the class."""
        device = self.model.fc.weight.device
        batch = labelled_windows(scenes, CURRICULUM, rng, step, STRIDE, device)
        return F.cross_entropy(self.model((batch.images - MEAN) / STD).float(), batch.labels, label_smoothing=0.05)


RECIPE = Recipe(
    name="scenes_resnet_96",
    architecture=ARCHITECTURE,
    model_args=MODEL_ARGS,
    learner=ResNet,
    schedule=Schedule(steps=STEPS, learning_rate=4e-3, warmup=100, cosine=STEPS, cooldown=200),
    num_scenes=24576,
    measure=accuracy_figures,
    story="""Learned the class of the object from labels, from random weights: timm's ResNet-10-T ([arXiv
1512.03385](https://arxiv.org/abs/1512.03385)) with half of its channels. It reads pictures of 96 pixels. Windows lie
close about the object at first and widen to the whole scene; at first the object's white mask is painted over it and
fades out. Trained by AdamW.""",
    limits="""It is a convolutional network: it has no tokens and no attention, and no map of this project can be made
of it. It is here as the teacher of the distilled DeiT, and to be compared with the transformers: what a shifted image,
shuffled patches or a hidden part does to either. It knows twelve paper cut-outs and nothing else: on a photograph its
answer means nothing.""",
    input_size=SIZE,
    label_names=LABEL_NAMES,
    label_names_zh=LABEL_NAMES_ZH,
)
