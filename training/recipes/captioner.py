"""Captioner over the frozen tokens of a bundled image tower (Vaswani et al. 2017, arXiv 1706.03762, section 3.1)."""

from __future__ import annotations

from typing import get_args

import numpy as np
import timm
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from training.caption_figures import caption_figures
from training.clip import ARCHITECTURE, DATA, MODEL_ARGS, image_tensors
from training.described import images_of, things_in, whole_picture
from training.loop import Learner, Schedule
from training.pool import SIZE
from training.recipe import MEAN, STD, Recipe
from training.worded_pool import WordedPool, WordedScenes
from vitexplorer.core.settings import ASSETS
from vitexplorer.core.text import Language
from vitexplorer.models.texts.captioner import BEGIN, END, FILE, PAD, Captioner, CaptionerConfig
from vitexplorer.scenes.captions import caption_of
from vitexplorer.scenes.vocabulary import vocabulary

STEPS = 3000
START = "scenes_clip"
ARGS = MODEL_ARGS | {"num_classes": 0}
CAPTIONER = CaptionerConfig(vocabulary(), dim=192)
LANGUAGES = get_args(Language)


class CaptionLearner(Learner):
    """Frozen image tower and the captioner that learns."""

    def __init__(self):
        super().__init__()
        self.model = timm.create_model(ARCHITECTURE, **ARGS, dynamic_img_size=True)
        self.model.load_state_dict(image_tensors(ASSETS / "models" / START, has_class=True))
        self.model.requires_grad_(False)
        self.captioner = Captioner(CAPTIONER)

    def forward(self, scenes: WordedScenes, rng: np.random.Generator, step: int) -> Tensor:
        """Compute the mean cross entropy of the words of each picture's caption in both languages."""
        device = self.captioner.positions.device
        pictures = [whole_picture(scenes, number, SIZE, rng) for number in range(len(scenes.counts))]
        captions = [caption_of(things_in(picture)).text for picture in pictures]
        with torch.no_grad():
            image = self.model.forward_features((images_of(pictures, rng).to(device) - MEAN) / STD)
        rows = [
            torch.tensor([BEGIN[language], *self.captioner.vocabulary.tokens(caption.in_(language)), END])
            for language in LANGUAGES
            for caption in captions
        ]
        tokens = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD).to(device)
        logits = self.captioner(tokens[:, :-1], image.repeat(len(LANGUAGES), 1, 1)).logits
        return F.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten(), ignore_index=PAD)

    def beside(self) -> dict[str, nn.Module]:
        """Return the captioner."""
        return {FILE: self.captioner}


RECIPE = Recipe(
    name="scenes_captioner",
    architecture=ARCHITECTURE,
    model_args=ARGS,
    learner=CaptionLearner,
    schedule=Schedule(steps=STEPS, learning_rate=1e-3, warmup=100, cosine=STEPS, cooldown=300),
    num_scenes=24576,
    pool=WordedPool,
    measure=caption_figures,
    data=DATA,
    captioner=CAPTIONER,
    story=f"""The image tower is that of `{START}` after its first 5500 steps, frozen and without its projection;
half of the scenes were new to it. A decoder of {CAPTIONER.layers} blocks, {CAPTIONER.width} wide, with causal attention
among the words and attention from the words to the picture's tokens, learned the caption of each scene in English and
in Chinese: every thing with its colour and pattern from left to right, two things in their relation. Half of the scenes
were shown as turned and mirrored windows. The matrices of the blocks were trained by Muon, the rest by AdamW.""",
    limits="""It can show where a word of a caption comes from, and how three ways to read that differ. Captions
follow one plan, so much of a word follows from the words before it: "a" and "of" have no place in the picture, and a
map of them shows none. It writes a caption for any picture; on a photograph that says nothing.""",
)
