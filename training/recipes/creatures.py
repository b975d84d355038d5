"""Vision transformer for paper creatures: classes made of parts, each of which can be removed.

The parts give explanations a known ground truth (`vitexplorer.evaluation.parts`). The network starts from the
supervised model of the scenes, with new heads.

- Half of the creatures lack parts; their label is shared evenly by the classes with the remaining parts
  (`creature_pool`).
- Token labels (`labelled`): every patch token also predicts the kinds of parts in its patch.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import timm
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from training.composed import shares_of
from training.creature_pool import KINDS, NOTHING, CreaturePool, Creatures
from training.crops import about_object, cut, tinted
from training.labelled import token_loss
from training.loop import Learner, Schedule
from training.measure import batches
from training.pool import SIZE
from training.recipe import MEAN, STD, Figures, Recipe
from training.shipped import load
from vitexplorer.core.settings import ASSETS
from vitexplorer.scenes import VERSION
from vitexplorer.scenes.creatures import CLASS_NAMES, CLASS_NAMES_ZH, CLASSES, Creature

STEPS = 1500
ARCHITECTURE = "vit_tiny_patch16_224"
MODEL_ARGS = {"img_size": 192, "depth": 6, "num_heads": 3, "num_classes": len(CLASSES)}
START = ASSETS / "models" / "scenes_vit_patch16_192"
TEST_CREATURES = 1000


class Creaturely(Learner):
    """Network and the head that only training needs."""

    def __init__(self):
        super().__init__()
        self.model = timm.create_model(ARCHITECTURE, **MODEL_ARGS, dynamic_img_size=True)
        self.model.load_state_dict(load(START).state_dict())
        self.model.reset_classifier(len(CLASSES))
        self.token_head = nn.Linear(self.model.embed_dim, len(KINDS) + 1)

    def forward(self, creatures: Creatures, rng: np.random.Generator, step: int) -> Tensor:
        """Compute the cross entropy of the possible classes, and of every patch token's content."""
        cell = self.model.patch_embed.patch_size[0]
        device = self.token_head.weight.device
        images, shares = windows(creatures, rng, cell)
        tokens = self.model.forward_features((images.to(device) - MEAN) / STD)
        labels = torch.from_numpy(creatures.labels).to(device)
        whole = F.cross_entropy(self.model.forward_head(tokens).float(), labels)
        patches = self.token_head(tokens[:, self.model.num_prefix_tokens :])
        return whole + token_loss(patches, shares.to(device))


def windows(creatures: Creatures, rng: np.random.Generator, cell: int) -> tuple[Tensor, Tensor]:
    """Cut a turned and mirrored window from each, channels in random order, each lighter or darker.

    Returns:
        (batch, 3, size, size) float 0-1, and (batch, cells, kinds + 1) float: the share of each cell, of `cell` pixels
        a side, that shows each kind, the last one nothing.
    """
    images, maps = [], []
    for image, kinds in zip(creatures.images, creatures.kinds, strict=True):
        window = about_object(kinds != NOTHING, rng, zoom=0.0)
        images.append(cut(image, window, SIZE)[..., rng.permutation(3)])
        maps.append(cut(kinds, window, SIZE, blend=False))
    return tinted(images, rng), torch.from_numpy(shares_of(np.stack(maps), cell, len(KINDS) + 1))


@torch.inference_mode()
def measure(_recipe: Recipe, folder: Path) -> Figures:
    """Measure accuracy on held-out creatures, whole and with one part taken away, which leaves no other class."""
    model = load(folder)
    creatures = [Creature("test", index) for index in range(TEST_CREATURES)]
    labels = torch.tensor([creature.label for creature in creatures])
    figures = {}
    for name, gone in (("accuracy", 0), ("accuracy, one part taken away", 1)):
        lost = [list(CLASSES[0])[index % len(CLASSES[0])] for index in range(TEST_CREATURES)]
        images = [creature.render([part] * gone) for creature, part in zip(creatures, lost, strict=True)]
        answers = torch.cat([model(batch).argmax(1).cpu() for batch in batches(model, np.stack(images))])
        figures[name] = float((answers == labels).float().mean())
    return figures


RECIPE = Recipe(
    name="creatures_vit_patch16_192",
    architecture=ARCHITECTURE,
    model_args=MODEL_ARGS,
    learner=Creaturely,
    schedule=Schedule(steps=STEPS, learning_rate=1.5e-3, warmup=50, cosine=STEPS, cooldown=200),
    num_scenes=8192,
    pool=CreaturePool,
    measure=measure,
    data=f"""Creatures drawn by `vitexplorer/scenes/creatures.py` (version {VERSION}): one paper creature
of one of {len(CLASSES)} classes on a textured ground between loose pieces of paper. A class says which of four kinds of
tail, body, pattern, wing and eye a creature has; place, size, angle, colours and light are independent of it.""",
    story="""A ViT with 6 blocks, 3 heads, 192 wide. To be short the training began with the weights of
`scenes_vit_patch16_192`, without its classifier; the steps and minutes below come on top of that model's. Half of the
creatures lacked parts: the label of such a picture is shared evenly by the classes that have what is left. Every patch
token also learned to say which kinds of parts lie under it ([token labels, arXiv
2104.10858](https://arxiv.org/abs/2104.10858)). The matrices of the blocks were trained by Muon, the rest by AdamW.""",
    limits="""It can show which parts a class rests on: every part can be taken from a picture, and what the model says
then is in its domain. It knows twelve paper creatures and nothing else: on a photograph or a scene of other paper its
answer means nothing. The masks of the parts were used in training, so that relevance on the creature is no
discovery.""",
    label_names=CLASS_NAMES,
    label_names_zh=CLASS_NAMES_ZH,
)
