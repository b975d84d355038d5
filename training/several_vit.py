"""Vision transformers for pictures of several classes: the supervised model trained further, with or without registers.

- Several labels, a sigmoid for each class, and token labels for every visible class.
- A loss on the class token's attention in the last block spreads it over the objects, of whatever class.
- In half of the pictures up to half of the patches are replaced by the mean colour (`composed`).
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import timm
import torch
from torch import Tensor, nn

from training.composed import Composed, composed
from training.labelled import TOKEN_CLASSES, token_loss
from training.loop import Learner, Schedule
from training.measure import classifier_figures, last_attention
from training.pool import SIZE, ScenePool, Scenes
from training.recipe import MEAN, STD, Figures, Recipe
from training.several_classes import DATA, labels_loss, several_figures
from training.shipped import load
from vitexplorer.core.settings import ASSETS
from vitexplorer.scenes.shapes import LABEL_NAMES, LABEL_NAMES_ZH

STEPS = 2500
ARCHITECTURE = "vit_tiny_patch16_224"
MODEL_ARGS = {"img_size": 192, "depth": 6, "num_heads": 3, "num_classes": len(LABEL_NAMES)}
START = ASSETS / "models" / "scenes_vit_patch16_192"
LOOKING = 0.2
"""Weight of the attention loss"""


class SeveralVit(Learner):
    """Network and the head that only training needs."""

    def __init__(self, registers: int = 0):
        super().__init__()
        args = MODEL_ARGS | {"reg_tokens": registers}
        self.model = timm.create_model(ARCHITECTURE, **args, dynamic_img_size=True)
        known = load(START).state_dict()
        self.model.load_state_dict(with_registers(known, registers) if registers else known)
        self.token_head = nn.Linear(self.model.embed_dim, TOKEN_CLASSES)

    def forward(self, scenes: Scenes, rng: np.random.Generator, step: int) -> Tensor:
        """Sum the losses of the labels, of every patch's content, and of the class token's attention."""
        batch = composed(scenes, rng, SIZE, self.model.patch_embed.patch_size[0], MEAN)
        batch = Composed(*(part.to(self.token_head.weight.device) for part in batch))
        with last_attention(self.model) as rows:
            tokens = self.model.forward_features((batch.images - MEAN) / STD)
        patches = self.token_head(tokens[:, self.model.num_prefix_tokens :])
        labels = labels_loss(self.model.forward_head(tokens), batch)
        return labels + token_loss(patches, batch.cover) + LOOKING * looking_loss(rows[0], batch.cover)


def looking_loss(rows: Tensor, cover: Tensor) -> Tensor:
    """Compute the cross entropy of attention, (batch, heads, patches), with the share of each patch that objects cover.

    `cover`, (batch, patches, kinds), has the share of nothing last. Both are divided by their sums over the patches,
    attention after its mean over the heads; pictures without an object do not count.
    """
    objects = 1 - cover[..., -1]
    seen = objects.sum(1) > 0
    target = objects[seen] / objects[seen].sum(1, keepdim=True)
    given = rows[seen].mean(1)
    given = given / given.sum(1, keepdim=True)
    return -(target * given.clamp(min=1e-8).log()).sum(1).mean()


def with_registers(tensors: dict[str, Tensor], count: int) -> dict[str, Tensor]:
    """Add `count` registers to the state of a ViT: noise of the class token's size, without positions."""
    token, place = tensors["cls_token"], tensors["pos_embed"]
    registers = token.std() * torch.randn(1, count, token.shape[-1])
    positions = torch.cat([place[:, :1], torch.zeros_like(registers), place[:, 1:]], 1)
    return tensors | {"reg_token": registers, "pos_embed": positions}


def measure(recipe: Recipe, folder: Path) -> Figures:
    """Measure accuracy and attention on scenes of one object, and the classes found among several."""
    return classifier_figures(recipe, folder) | several_figures(folder)


HOW = f"""To be short the training began with the weights of
`{START.name}`; the steps and minutes below come on top of that model's. {DATA} Every patch token also
learned to say what lies under it ([token labels, arXiv 2104.10858](https://arxiv.org/abs/2104.10858)), the class token
of the last block to look at the objects, whatever their class, and half of the pictures lost up to half of their
patches to the mean colour. The matrices of the blocks were trained by Muon, the rest by AdamW. The first 1000 steps
followed a plan of 1000 steps."""


def several_vit(name: str, registers: int, opening: str) -> Recipe:
    """Make the recipe of a ViT with some registers; `opening` begins its story."""
    return Recipe(
        name=name,
        architecture=ARCHITECTURE,
        model_args=MODEL_ARGS | ({"reg_tokens": registers} if registers else {}),
        learner=partial(SeveralVit, registers),
        schedule=Schedule(steps=STEPS, learning_rate=1e-3, warmup=30, cosine=STEPS, cooldown=250),
        num_scenes=12288,
        pool=partial(ScenePool, several=True),
        measure=measure,
        story=f"{opening} {HOW}",
        limits="""It can show relevance of one class beside others: in a picture of several objects each has its own
logit. The highest logit is the class it is surest of, the softmax of the logits no probability that it learned. It
knows twelve paper cut-outs and nothing else: on a photograph its answer means nothing. Attention was trained to lie on
the objects, by their masks, so that attention on the object is no discovery.""",
        label_names=LABEL_NAMES,
        label_names_zh=LABEL_NAMES_ZH,
    )
