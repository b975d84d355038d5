"""The supervised vision transformer, trained further on pictures of several classes: which one is where?

A network that knows single objects has no need to say where each class is, and maps of its logits hardly tell one
object from another. Here a quarter of the scenes show two to four objects, and some pictures are 2 x 2 grids of scenes;
the answer is several labels, a sigmoid for each class, so that what shows one class leaves the others' logits alone.

- Token labels as in the supervised recipe (`labelled`), of every class in sight.
- The class token's attention in the last block learns to lie on objects, of whatever class: so it reads the answer
  where the objects are, at last and not somewhere on the way.
- Half of the pictures lose up to half of their patches to the mean colour (`composed`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import timm
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from vitexplorer.models.bundled.composed import Composed, composed
from vitexplorer.models.bundled.labelled import TOKEN_CLASSES
from vitexplorer.models.bundled.loop import Learner, Schedule
from vitexplorer.models.bundled.measure import batches, classifier_figures
from vitexplorer.models.bundled.pool import SIZE, Scenes
from vitexplorer.models.bundled.recipe import Figures, Recipe
from vitexplorer.models.bundled.recipes import supervised
from vitexplorer.models.bundled.scenes.several import draw_several
from vitexplorer.models.bundled.shapes import LABEL_NAMES, LABEL_NAMES_ZH
from vitexplorer.models.bundled.shipped import load
from vitexplorer.settings import ASSETS

STEPS = 800
MEAN, STD = supervised.MEAN, supervised.STD
START = ASSETS / "models" / supervised.RECIPE.name
LOOKING = 0.4
"""weight of the attention's part of the loss"""
SEVERAL_SCENES = 500


@contextmanager
def class_attention(model: nn.Module) -> Iterator[list[Tensor]]:
    """Collects what the class token of the last block gives to every token, (batch, heads, tokens) for each call."""
    attention, found = model.blocks[-1].attn, []

    def keep(_module: nn.Module, _inputs: tuple, qkv: Tensor) -> None:
        q, k, _ = qkv.float().unflatten(-1, (3, attention.num_heads, -1)).permute(2, 0, 3, 1, 4)
        found.append((q[:, :, :1] @ k.transpose(-1, -2) * attention.scale).softmax(-1)[:, :, 0])

    handle = attention.qkv.register_forward_hook(keep)
    try:
        yield found
    finally:
        handle.remove()


class Several(Learner):
    """The network and the head that only training needs."""

    def __init__(self, registers: int = 0):
        super().__init__()
        more = {"reg_tokens": registers, "dynamic_img_size": True}
        self.model = timm.create_model(supervised.ARCHITECTURE, **supervised.MODEL_ARGS, **more)
        known = load(START).state_dict()
        if registers:
            known = with_registers(known, self.model.reg_token)
        self.model.load_state_dict(known)
        self.token_head = nn.Linear(self.model.embed_dim, TOKEN_CLASSES)

    def forward(self, scenes: Scenes, rng: np.random.Generator, step: int) -> Tensor:
        """The loss of the labels, of what every patch token covers, and of where the class token looks."""
        batch = composed(scenes, rng, SIZE, self.model.patch_embed.patch_size[0], MEAN)
        batch = Composed(*(part.to(self.token_head.weight.device) for part in batch))
        with class_attention(self.model) as rows:
            tokens = self.model.forward_features((batch.images - MEAN) / STD)
        patches = self.token_head(tokens[:, self.model.num_prefix_tokens :])
        looks = looking_loss(rows[0][..., self.model.num_prefix_tokens :], batch)
        return labels_loss(self.model.forward_head(tokens), batch) + token_loss(patches, batch) + LOOKING * looks

    def shipped(self) -> nn.Module:
        """The network without the head of the patch tokens."""
        return self.model


def with_registers(tensors: dict[str, Tensor], registers: Tensor) -> dict[str, Tensor]:
    """The state of a ViT as that of one with registers, (1, registers, dim), which get no position."""
    place = tensors["pos_embed"]
    positions = torch.cat([place[:, :1], torch.zeros_like(registers), place[:, 1:]], 1)
    return tensors | {"reg_token": registers.detach(), "pos_embed": positions}


def labels_loss(logits: Tensor, batch: Composed) -> Tensor:
    """Binary cross entropies of the classes asked for, summed over them, mean over the pictures."""
    each = F.binary_cross_entropy_with_logits(logits.float(), batch.present, batch.asked, reduction="none")
    return each.sum(1).mean()


def token_loss(said: Tensor, batch: Composed) -> Tensor:
    """Cross entropy of what the patch tokens say, (batch, cells, TOKEN_CLASSES) logits, with what the cells show."""
    return F.cross_entropy(said.float().flatten(0, 1), batch.cover.flatten(0, 1))


def looking_loss(rows: Tensor, batch: Composed) -> Tensor:
    """-log of the attention of each head, (batch, heads, cells), on objects; pictures without any do not count."""
    objects = 1 - batch.cover[..., -1]
    seen = objects.sum(1) > 0
    on_objects = (rows * objects[:, None]).sum(-1)[seen]
    return -on_objects.clamp(min=1e-6).log().mean()


def measure(recipe: Recipe, folder: Path) -> Figures:
    """As the supervised model, and which classes are found among several."""
    return classifier_figures(recipe, folder) | {"classes found among several": found_among_several(load(folder))}


@torch.inference_mode()
def found_among_several(model: nn.Module) -> float:
    """Share of the classes of scenes of several objects that are among as many highest logits, mean over the scenes."""
    scenes = [draw_several("test", index) for index in range(SEVERAL_SCENES)]
    images = np.stack([scene.image for scene in scenes])
    logits = torch.cat([model(batch).cpu() for batch in batches(model, images)])
    highest = [set(row.topk(len(scene.labels)).indices.tolist()) for row, scene in zip(logits, scenes, strict=True)]
    found = [len(guess & set(scene.labels)) / len(guess) for guess, scene in zip(highest, scenes, strict=True)]
    return float(np.mean(found))


PLAN = Schedule(steps=STEPS, batch_size=64, learning_rate=1e-3, warmup=30, cosine=STEPS, floor=0.0, cooldown=100)
HOW = """To be short the training began with the weights of `scenes_vit_patch16_192`; the steps and minutes below come
on top of that model's. A step took 64 scenes, a quarter of them of two to four objects of different classes: 40 were
put together to ten 2 x 2 grids, the rest was shown whole. The answer is several labels: a sigmoid for each class,
binary cross entropy, so that a picture of a fish says nothing against a mug beside it. Every patch token also learned
to say what lies under it ([token labels, arXiv 2104.10858](https://arxiv.org/abs/2104.10858)), the class token's
attention in the last block to lie on objects of whatever class, and half of the pictures lost up to half of their
patches to the mean colour. The matrices of the blocks were trained by Muon, the rest by AdamW."""
FIRST = """
The first 200 steps followed a plan of 1500 steps and gave the attention's part of the loss a quarter of its weight."""
LIMITS = """It can show relevance of one class beside others: in a picture of several objects each has its own logit.
The highest logit is the class it is surest of, the softmax of the logits no probability that it learned. It knows
twelve paper cut-outs and nothing else: on a photograph its answer means nothing. Attention was trained to lie on the
objects, by their masks, so that attention on the object is no discovery."""

RECIPE = Recipe(
    name="scenes_several_vit_patch16_192",
    architecture=supervised.ARCHITECTURE,
    model_args=supervised.MODEL_ARGS,
    learner=Several,
    schedule=PLAN,
    num_scenes=12288,
    grounds=False,
    several=True,
    mean=MEAN,
    std=STD,
    measure=measure,
    story=f"A ViT with 6 blocks, 3 heads, 192 wide, for pictures of several classes. {HOW}{FIRST}",
    limits=LIMITS,
    label_names=LABEL_NAMES,
    label_names_zh=LABEL_NAMES_ZH,
)
