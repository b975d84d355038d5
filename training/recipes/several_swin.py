"""Swin for pictures of several classes, whose logits show which class is where.

A network for single objects need not locate each class, and maps of its logits hardly separate several objects. This
model is the Swin for single objects, trained further on scenes of two to four objects and on 2 x 2 grids of windows.
Its answer is the mean over its cells, so that a logit is a sum over places.

- Several labels, a sigmoid for each class: evidence for one class leaves the other logits unchanged.
- A loss on the logits of cells for classes that they do not show: evidence should lie on the object.
- Token labels (`labelled`) as in the recipe of the first training, for every visible class.
- In half of the pictures up to half of the cells are replaced by the mean colour (`composed`).
"""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from pathlib import Path

import numpy as np
import timm
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from training.composed import Composed, composed
from training.labelled import TOKEN_CLASSES, token_loss
from training.loop import Learner, Schedule
from training.measure import accuracy_figures
from training.pool import SIZE, ScenePool, Scenes
from training.recipe import MEAN, STD, Figures, Recipe
from training.several_classes import DATA, labels_loss, several_figures
from training.shipped import load
from vitexplorer.core.settings import ASSETS
from vitexplorer.scenes.shapes import LABEL_NAMES, LABEL_NAMES_ZH

STEPS = 800
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
START = ASSETS / "models" / "scenes_swin_patch4_window6_192"
ASTRAY = 0.3
"""Weight of the loss for evidence on classes that a cell does not show"""
GAIN, SHIFT = 8.4, 0.5
"""Scale and offset of the trained logits, which stay small because of the loss on misplaced evidence

They maximise the likelihood of the labels of 600 scenes of the stream "validation", half of them with several objects
(Platt 1999), also for a softmax on the single objects. Maps of a logit are scaled by the gain and keep their shape.
"""


class Several(Learner):
    """Network and the head that only training needs."""

    def __init__(self):
        super().__init__()
        self.model = timm.create_model(ARCHITECTURE, **MODEL_ARGS)
        self.model.load_state_dict(load(START).state_dict())
        self.token_head = nn.Linear(self.model.num_features, TOKEN_CLASSES)

    def forward(self, scenes: Scenes, rng: np.random.Generator, step: int) -> Tensor:
        """Sum the losses of the labels, of evidence on absent classes, and of every cell's content."""
        batch = composed(scenes, rng, SIZE, STRIDE, MEAN)
        batch = Composed(*(part.to(self.token_head.weight.device) for part in batch))
        tokens = self.model.forward_features((batch.images - MEAN) / STD).flatten(1, 2)
        logits = self.cell_logits(tokens).float()
        labels = labels_loss(logits.mean(1) + self.model.head.fc.bias, batch)
        return labels + ASTRAY * astray_loss(logits, batch) + token_loss(self.token_head(tokens), batch.cover)

    def cell_logits(self, tokens: Tensor) -> Tensor:
        """Compute the logits of cells from tokens after the final norm, (batch, cells, classes), without the bias."""
        return F.linear(tokens, self.model.head.fc.weight)

    def shipped(self) -> nn.Module:
        """Return the network without the head of the tokens, with calibrated logits."""
        shipped = deepcopy(self.model)
        with torch.no_grad():
            shipped.head.fc.weight.mul_(GAIN)
            shipped.head.fc.bias.mul_(GAIN).add_(SHIFT)
        return shipped


def astray_loss(logits: Tensor, batch: Composed) -> Tensor:
    """Compute the mean absolute logit of cells, (batch, cells, classes), for classes that they do not show.

    Mean over the cells, like the answer, summed over the classes, mean over the pictures.
    """
    return (logits.abs() * (1 - batch.cover[..., :-1])).mean(1).sum(1).mean()


def measure(recipe: Recipe, folder: Path) -> Figures:
    """Measure accuracy on scenes of one object, and the classes found among several."""
    return accuracy_figures(recipe, folder) | several_figures(folder)


RECIPE = Recipe(
    name="scenes_several_swin_patch4_window6_192",
    architecture=ARCHITECTURE,
    model_args=MODEL_ARGS,
    learner=Several,
    schedule=Schedule(steps=STEPS, learning_rate=1e-3, warmup=30, cosine=STEPS, cooldown=100),
    num_scenes=12288,
    pool=partial(ScenePool, several=True),
    measure=measure,
    story=f"""A Swin ([arXiv 2103.14030](https://arxiv.org/abs/2103.14030)) with 2, 2, 4 and 2 blocks, 32 to 256 wide,
for pictures of several classes. To be short the training began with the weights of `scenes_swin_patch4_window6_192`;
the steps and minutes below come on top of that model's. {DATA}
What a cell of the last stage says of a class that is not seen in it costs,
every such cell also learned to say what lies under it ([token labels, arXiv
2104.10858](https://arxiv.org/abs/2104.10858)), and half of the pictures lost up to half of their cells to the mean
colour. The matrices of the blocks were trained by Muon, the rest by AdamW. At last the logits were stretched to be as
large as the model is sure (Platt 1999): by 8.4, and 0.5 more.""",
    limits="""It can show relevance of one class beside others: in a picture of several objects each has its own logit.
The highest logit is the class it is surest of, the softmax of the logits no probability that it learned. It knows
twelve paper cut-outs and nothing else: on a photograph its answer means nothing. The objects' masks were used in
training, so that relevance on the object is no discovery.""",
    label_names=LABEL_NAMES,
    label_names_zh=LABEL_NAMES_ZH,
)
