"""DeiT: a vision transformer with a token that learns from a CNN teacher (Touvron et al. 2021, arXiv 2012.12877).

Hard distillation, equation 3 of the paper: the class token learns the label, the distillation token the teacher's most
likely class, with equal weight; the model's answer is the mean of the two. The teacher is the bundled residual network;
it sees the same windows as the student, at its own size.

To shorten the training it starts from the supervised model: all tensors are copied, and the distillation token and its
head are copies of the class token and its head. Both bundled models must exist. Token labels as in `supervised`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import timm
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from training.crops import Curriculum
from training.labelled import TOKEN_CLASSES, labelled_windows, token_loss
from training.loop import Learner, Schedule
from training.measure import classifier_figures
from training.pool import Scenes
from training.recipe import MEAN, STD, Figures, Recipe
from training.shipped import load, stated
from vitexplorer.core.settings import ASSETS
from vitexplorer.scenes.shapes import LABEL_NAMES, LABEL_NAMES_ZH

STEPS = 2600
CURRICULUM = Curriculum(sizes=((STEPS, 192),), zooms=((0, 0.0),), paints=((0, -1.0),))
ARCHITECTURE = "deit_tiny_distilled_patch16_224"
MODEL_ARGS = {"img_size": 192, "depth": 6, "num_heads": 3, "num_classes": len(LABEL_NAMES)}
TEACHER = ASSETS / "models" / "scenes_resnet_96"
START = ASSETS / "models" / "scenes_vit_patch16_192"


class Deit(Learner):
    """Student, the head that only training needs, and the frozen teacher."""

    def __init__(self):
        super().__init__()
        self.model = timm.create_model(ARCHITECTURE, **MODEL_ARGS, dynamic_img_size=True)
        self.model.set_distilled_training()
        self.model.load_state_dict(with_distillation_token(load(START).state_dict()))
        self.token_head = nn.Linear(self.model.embed_dim, TOKEN_CLASSES)
        self.teacher = load(TEACHER).requires_grad_(False)

    def train(self, mode: bool = True) -> Deit:
        """Set the mode of all but the teacher, which keeps its statistics."""
        super().train(mode)
        self.teacher.eval()
        return self

    def forward(self, scenes: Scenes, rng: np.random.Generator, step: int) -> Tensor:
        """Average the losses of the label and of the teacher's answer, and add that of every patch token's content."""
        cell = self.model.patch_embed.patch_size[0]
        device = self.token_head.weight.device
        batch = labelled_windows(scenes, CURRICULUM, rng, step, cell, device)
        images = (batch.images - MEAN) / STD
        with torch.no_grad():
            teacher_classes = self.teacher(
                F.interpolate(images, self.teacher.pretrained_cfg["input_size"][1:], mode="area")
            ).argmax(1)
        tokens = self.model.forward_features(images)
        by_class, by_distillation = self.model.forward_head(tokens)
        label = F.cross_entropy(by_class.float(), batch.labels, label_smoothing=0.05)
        teacher = F.cross_entropy(by_distillation.float(), teacher_classes)
        patches = self.token_head(tokens[:, self.model.num_prefix_tokens :])
        return 0.5 * label + 0.5 * teacher + token_loss(patches, batch.shares)


def with_distillation_token(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Make a DeiT's state from a ViT's; the distillation token begins as a copy of the class token."""
    place = tensors["pos_embed"]
    return tensors | {
        "dist_token": tensors["cls_token"],
        "pos_embed": torch.cat([place[:, :1], place], 1),
        "head_dist.weight": tensors["head.weight"],
        "head_dist.bias": tensors["head.bias"],
    }


def measure(recipe: Recipe, folder: Path) -> Figures:
    """Measure as for the supervised model, and read the accuracy on the teacher's card."""
    return classifier_figures(recipe, folder) | {"accuracy of the teacher": stated(TEACHER)["accuracy"]}


RECIPE = Recipe(
    name="scenes_deit_patch16_192",
    architecture=ARCHITECTURE,
    model_args=MODEL_ARGS,
    learner=Deit,
    schedule=Schedule(steps=STEPS, learning_rate=1e-3, warmup=30, cosine=STEPS, cooldown=260),
    num_scenes=24576,
    measure=measure,
    story="""A DeiT ([arXiv 2012.12877](https://arxiv.org/abs/2012.12877)) with 6 blocks, 3 heads, 192 wide. Its class
token learned the label, its distillation token the answer of a small residual network, `scenes_resnet_96`, to the same
window (hard distillation); the model's answer is the mean of the two. To be short the training began with the weights
of `scenes_vit_patch16_192`, the distillation token as a copy of the class token; the steps and minutes below come on
top of that model's. Windows are whole scenes, turned a little and mirrored; every patch token also learned to say
what lies under it ([token labels, arXiv 2104.10858](https://arxiv.org/abs/2104.10858)). The matrices of the blocks
were trained by Muon, the rest by AdamW. The run first ended after 800 steps, its rate at zero, at an accuracy of 0.955,
and went on from there by the plan of 2600.""",
    limits="""It can show a class token and a distillation token side by side: what each looks at and what each says.
Label and teacher mostly agree on these scenes, and both tokens began alike, so that they differ less than in the DeiT
of the paper. It knows twelve paper cut-outs and nothing else: on a photograph its answer means nothing. The objects'
masks were used in training, so that attention on the object is no discovery.""",
    label_names=LABEL_NAMES,
    label_names_zh=LABEL_NAMES_ZH,
)
