"""Image and text towers with one joint space, trained on worded scenes; the recipes of `scenes_clip` and its kin."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import timm
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional as F

from training.clip_figures import text_figures
from training.described import contrastive_loss, described, naming_loss, sigmoid_loss, spoken
from training.labelled import token_loss
from training.loop import Learner, Schedule
from training.measure import last_attention
from training.pool import SIZE
from training.recipe import MEAN, STD, Recipe
from training.several_vit import looking_loss
from training.shipped import load
from training.worded_pool import WordedPool, WordedScenes
from vitexplorer.core.settings import ASSETS
from vitexplorer.models.texts.text_tower import BUNDLED
from vitexplorer.models.texts.word_tower import WordTower, WordTowerConfig
from vitexplorer.scenes import VERSION
from vitexplorer.scenes.sentences import Phrase, with_article
from vitexplorer.scenes.shapes import LABEL_NAMES
from vitexplorer.scenes.vocabulary import vocabulary
from vitexplorer.scenes.worded import COLOURS

JOINT = 128
ARCHITECTURE = "vit_tiny_patch16_224"
MODEL_ARGS = {"img_size": SIZE, "depth": 6, "num_heads": 3}
NAMES = [with_article(Phrase(shape=shape)) for shape in LABEL_NAMES]
LOOKING = 0.1
"""Weight of the attention loss"""
MOST_SCALE = 100.0


def text_config(joint: int, *, sigmoid: bool) -> WordTowerConfig:
    """Return the sizes and words of a text tower for a joint space of some width."""
    return WordTowerConfig(vocabulary(), joint, sigmoid=sigmoid)


class TwoTowers(Learner):
    """Image tower, text tower, and the heads that only training needs."""

    def __init__(self, start: str, model_args: Mapping[str, Any], text: WordTowerConfig):
        """Begin with the towers of the bundled model `start`, as far as they fit."""
        super().__init__()
        folder = ASSETS / "models" / start
        self.model = timm.create_model(ARCHITECTURE, **model_args, dynamic_img_size=True)
        self.model.load_state_dict(image_tensors(folder, has_class=self.model.has_class_token), strict=False)
        if isinstance(self.model.head, nn.Linear):
            nn.init.normal_(self.model.head.weight, std=self.model.embed_dim**-0.5)
            nn.init.zeros_(self.model.head.bias).requires_grad_(False)  # a projection has none
        self.text = WordTower(text)
        self.text.load_state_dict(_text_tensors(folder), strict=False)
        self.shape_head = nn.Linear(self.model.embed_dim, len(LABEL_NAMES) + 1)
        self.colour_head = nn.Linear(self.model.embed_dim, len(COLOURS) + 1)

    def forward(self, scenes: WordedScenes, rng: np.random.Generator, step: int) -> Tensor:
        """Sum the losses of pictures with texts, of every patch's shape and colour, and of the class attention."""
        device = self.shape_head.weight.device
        batch = described(scenes, rng, SIZE, self.model.patch_embed.patch_size[0])
        with last_attention(self.model) as rows:
            tokens = self.model.forward_features((batch.images.to(device) - MEAN) / STD)
        images = F.normalize(self.model.forward_head(tokens).float(), dim=-1)
        names = [] if self.text.config.sigmoid else spoken(NAMES, rng)
        texts = F.normalize(self.text(self.text.tokens([*batch.texts, *names]).to(device)).float(), dim=-1)
        scale = self.text.logit_scale.exp().clamp(max=MOST_SCALE)
        logits = scale * images @ texts.T + self.text.logit_bias
        sentences, naming = logits.tensor_split([len(batch.texts)], dim=1)
        match = sigmoid_loss if self.text.config.sigmoid else contrastive_loss
        loss = match(sentences, batch.true.to(device))
        if names:
            loss = loss + naming_loss(naming, batch.named.to(device))
        patches = tokens[:, self.model.num_prefix_tokens :]
        shapes = batch.shapes.to(device)
        loss = loss + token_loss(self.shape_head(patches), shapes)
        loss = loss + token_loss(self.colour_head(patches), batch.colours.to(device))
        return loss + LOOKING * looking_loss(rows[0], shapes) if self.model.num_prefix_tokens else loss

    def beside(self) -> dict[str, nn.Module]:
        """Return the text tower."""
        return {BUNDLED: self.text}


def image_tensors(folder: Path, *, has_class: bool) -> dict[str, Tensor]:
    """Return a bundled image tower without its head, and without the class token where there is none."""
    tensors = {name: tensor for name, tensor in load(folder).state_dict().items() if not name.startswith("head.")}
    if not has_class:
        del tensors["cls_token"]
        tensors["pos_embed"] = tensors["pos_embed"][:, 1:]
    return tensors


def _text_tensors(folder: Path) -> dict[str, Tensor]:
    """Return a bundled text tower without its projection and scale; nothing where there is no text tower."""
    file = folder / BUNDLED
    tensors = load_file(file) if file.is_file() else {}
    return {name: tensor for name, tensor in tensors.items() if not name.startswith(("proj.", "logit_"))}


DATA = f"""Worded scenes drawn by `vitexplorer/scenes` (version {VERSION}): up to four paper cut-outs, each of one of
{len(LABEL_NAMES)} shapes, of one of {len(COLOURS)} colours with names, plain, striped or dotted, on a pale ground.
Their sentences name shape, colour, pattern, size, place, relation, number or what is absent, in English or in Chinese,
with {len(vocabulary())} words in all."""
HOW = """A step took 64 scenes: up to 32 of one thing were put together to 2 x 2 grids, the rest was shown alone, half
of them as turned and mirrored windows, with three sentences each. Which sentence is true of which picture is known, so
that no true sentence counts as wrong. Every patch token also learned the shape and the colour under it, by two heads
that are not shipped and do not touch the joint space. The matrices of the blocks were trained by Muon, the rest by
AdamW.
"""
LIMITS = """It can show how a text finds its patches, and how the ways to look for them differ. It knows the words of
its vocabulary and drawn scenes, and nothing else: an unknown word is refused. It goes by which words fit, not by how
they are joined: two colours put to the wrong things, a relation turned round and "no" before a thing that is there
fit as well as the truth, as the table above has it. Masks were used in training, so attention on the things is no
discovery; that a word lies on the right thing is one, since no loss put texts on patches."""


def two_towers(
    name: str,
    start: str,
    model_args: Mapping[str, Any],
    text: WordTowerConfig,
    schedule: Schedule,
    num_scenes: int,
    story: str,
) -> Recipe:
    """Make the recipe of an image and a text tower that begins with the bundled model `start`."""
    return Recipe(
        name=name,
        architecture=ARCHITECTURE,
        model_args=model_args,
        learner=partial(TwoTowers, start, model_args, text),
        schedule=schedule,
        num_scenes=num_scenes,
        pool=WordedPool,
        measure=text_figures,
        data=DATA,
        text=text,
        story=story,
        limits=LIMITS,
    )
