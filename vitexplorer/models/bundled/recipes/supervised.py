"""A plain vision transformer that learns the classes from labels (Dosovitskiy et al. 2020, arXiv 2010.11929).

Small enough for an hour on a shared processor core by four means, all of them only during training:

- Size: windows of 64, then 112, at last of 192 pixels, with the position embeddings resampled.
- Zoom: the windows are close about the object at first and widen to the whole scene.
- Fade: at first the object is painted over with its white mask on black, which fades out.
- Token labels (Jiang et al. 2021, arXiv 2104.10858): every patch token also says what lies under it.

So the object's mask helps in training: were attention to lie on the object, that would be no discovery.
What is shipped is the network without the head of the patch tokens.
"""

from __future__ import annotations

import numpy as np
import timm
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from vitexplorer.models.bundled.crops import Curriculum, about_object, cut_with_mask
from vitexplorer.models.bundled.loop import Learner, Schedule, place_positions
from vitexplorer.models.bundled.measure import TEST_SCENES, accuracy, attention_figures
from vitexplorer.models.bundled.pool import Scenes, draw_scenes
from vitexplorer.models.bundled.recipe import Figures, Recipe
from vitexplorer.models.bundled.shapes import LABEL_NAMES, LABEL_NAMES_ZH

CURRICULUM = Curriculum(
    sizes=((7000, 96), (8000, 192)),
    zooms=((0, 1.0), (4000, 0.0)),
    paints=((0, 2.0), (2000, -1.0)),
)
MEAN, STD = 0.5, 0.25
ARCHITECTURE = "vit_tiny_patch16_224"
MODEL_ARGS = {"img_size": 192, "depth": 6, "num_heads": 3, "num_classes": len(LABEL_NAMES)}


class Supervised(Learner):
    """The network and the head that only training needs."""

    def __init__(self):
        super().__init__()
        self.model = timm.create_model(ARCHITECTURE, **MODEL_ARGS, dynamic_img_size=True)
        place_positions(self.model)
        self.token_head = nn.Linear(self.model.embed_dim, len(LABEL_NAMES) + 1)  # the last one: no object

    def forward(self, scenes: Scenes, rng: np.random.Generator, step: int) -> Tensor:
        """Cross entropy of the class token, and of every patch token with what it covers."""
        images, cover = views(scenes, rng, step, self.model.patch_embed.patch_size[0])
        device = self.token_head.weight.device
        tokens = self.model.forward_features((images.to(device) - MEAN) / STD)
        labels, cover = torch.tensor(scenes.labels, device=device), cover.to(device)
        whole = F.cross_entropy(self.model.forward_head(tokens).float(), labels, label_smoothing=0.05)
        wanted = F.one_hot(labels, len(LABEL_NAMES) + 1)[:, None] * cover[..., None]
        wanted[..., -1] = 1 - cover
        said = self.token_head(tokens[:, self.model.num_prefix_tokens :]).float()
        return whole + F.cross_entropy(said.flatten(0, 1), wanted.flatten(0, 1))

    def after_step(self, step: int) -> None:
        """Nothing: no average is kept, the rate falls to zero at the end."""

    def shipped(self) -> nn.Module:
        """The network without the head of the patch tokens."""
        return self.model


def views(scenes: Scenes, rng: np.random.Generator, step: int, patch_size: int) -> tuple[Tensor, Tensor]:
    """(batch, 3, size, size) float 0-1, and (batch, patches) the share of each patch that the object covers."""
    size = CURRICULUM.size(step)
    grid = size // patch_size
    images, covers = [], []
    for image, mask in zip(scenes.images, scenes.masks, strict=True):
        window = about_object(mask, rng, CURRICULUM.zoom(step))
        view, seen = cut_with_mask(image, mask, window, size, CURRICULUM.paint(step, rng))
        images.append(view[..., rng.permutation(3)])
        covers.append(seen.reshape(grid, patch_size, grid, patch_size).mean((1, 3)) / np.float32(255))
    gain = torch.from_numpy(rng.uniform(0.75 / 255, 1.25 / 255, (len(scenes), 3, 1, 1)).astype(np.float32))
    batch = torch.from_numpy(np.stack(images)).permute(0, 3, 1, 2).float().mul_(gain).clamp_(0, 1)
    return batch, torch.from_numpy(np.stack(covers)).flatten(1)


def measure(recipe: Recipe, model: nn.Module) -> Figures:
    """Accuracy and attention on held-out scenes."""
    return {"accuracy": accuracy(model, draw_scenes("test", TEST_SCENES)), **attention_figures(recipe, model)}


RECIPE = Recipe(
    name="scenes_vit_patch16_192",
    architecture=ARCHITECTURE,
    model_args=MODEL_ARGS,
    learner=Supervised,
    schedule=Schedule(steps=8000, batch_size=64, learning_rate=3e-3, warmup=100, cosine=8000, floor=0.0, cooldown=800),
    num_scenes=24576,
    grounds=False,
    mean=MEAN,
    std=STD,
    measure=measure,
    story="""Learned the class of the object from labels, from random weights: a ViT as in [arXiv
2010.11929](https://arxiv.org/abs/2010.11929) with 6 blocks, 3 heads, 192 wide. Four means that only training has
made it short: windows grow from 64 to 112 to 192 pixels; they lie close about the object at first and widen to the
whole scene; at first the object's white mask is painted over it and fades out; and every patch token also learned
to say what lies under it ([token labels, arXiv 2104.10858](https://arxiv.org/abs/2104.10858)). The matrices of the
blocks were trained by Muon, the rest by AdamW. The steps at which sizes, zoom, paint and rate change were set while
the run went on, by its loss and by validation scenes; it was stopped and resumed several times, and earlier trials
are not counted in its minutes.""",
    limits="""It can show how a plain vision transformer that solves its task most of the time works: attention,
rollout, relevance of a class, what changes when heads or patches are taken away. It errs on about every fourth
scene, because its training was short (an hour on a shared processor core, its loss still falling), and its class
token's attention is spread widely rather than held to the object. It knows twelve paper cut-outs and nothing else:
on a photograph its answer means nothing. The objects' masks were used in training.""",
    label_names=LABEL_NAMES,
    label_names_zh=LABEL_NAMES_ZH,
)
