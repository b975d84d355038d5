"""Figures of the models with a text tower: what they name, and what they get wrong, on held-out worded scenes.

Sentences with the same words and another meaning are what contrastive models are known to fail at (Yuksekgonul et al.
2023, arXiv 2210.01936).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from training.measure import batches
from training.recipe import Figures, Recipe
from training.shipped import load
from vitexplorer.core.text import Text
from vitexplorer.models.texts.text_tower import text_tower_at
from vitexplorer.scenes.sentences import Phrase, counted, lies, listed, related, with_article, without
from vitexplorer.scenes.several import MOST
from vitexplorer.scenes.shapes import LABEL_NAMES
from vitexplorer.scenes.vocabulary import RELATIONS
from vitexplorer.scenes.worded import COLOURS, WordedScene, draw_worded

SCENES = 500
Embed = Callable[[Sequence[str]], np.ndarray]


def text_figures(recipe: Recipe, folder: Path) -> Figures:
    """Measure the shares of right answers, the mean of both languages."""
    model, embed = load(folder), text_tower_at(folder).embed
    several = [_Measured(model, embed, count) for count in range(1, MOST + 1)]
    single, two = several[:2]
    shapes = [with_article(Phrase(shape=shape)) for shape in LABEL_NAMES]
    colours = [with_article(Phrase(colour=colour)) for colour in COLOURS]
    both = [with_article(Phrase(shape, colour)) for shape in LABEL_NAMES for colour in COLOURS]
    return {
        "shape named": single.named(shapes, lambda scene: scene.things[0].shape),
        "colour named": single.named(colours, lambda scene: scene.things[0].colour),
        "shape and colour named": single.named(
            both, lambda scene: scene.things[0].shape * len(COLOURS) + scene.things[0].colour
        ),
        "colours put to the right shapes": two.chosen(_swapped_colours),
        "relation told from its reverse": two.chosen(_swapped_places),
        "negation told from its reverse": two.chosen(_swapped_absence),
        "things counted, of four numbers": float(
            np.mean([part.counted(number) for number, part in enumerate(several, 1)])
        ),
    }


class _Measured:
    """Vectors of held-out scenes with one number of things."""

    @torch.inference_mode()
    def __init__(self, model: torch.nn.Module, embed: Embed, count: int):
        drawn = (draw_worded("test", index, count=count) for index in range(SCENES))
        self.scenes = [scene for scene in drawn if all(thing.area > 0 for thing in scene.things)]
        images = np.stack([scene.image for scene in self.scenes])
        self.vectors = F.normalize(torch.cat([model(batch) for batch in batches(model, images)]), dim=-1).numpy()
        self.embed = embed

    def named(self, texts: Sequence[Text], truth: Callable[[WordedScene], int]) -> float:
        """Compute the share of scenes whose true text has the largest cosine."""
        answers = np.array([truth(scene) for scene in self.scenes])
        guesses = [(self.vectors @ self.embed([text[at] for text in texts]).T).argmax(1) for at in range(2)]
        return float(np.mean([guess == answers for guess in guesses]))

    def chosen(self, pair: Callable[[WordedScene], tuple[Text, Text]]) -> float:
        """Compute the share of scenes for which the first of a pair of texts has the larger cosine."""
        pairs = [pair(scene) for scene in self.scenes]
        gaps = []
        for at in range(2):
            right, wrong = (self.embed([texts[which][at] for texts in pairs]) for which in range(2))
            gaps.append(((right - wrong) * self.vectors).sum(1))
        return float(np.mean(np.array(gaps) > 0))

    def counted(self, number: int) -> float:
        """Compute the share of scenes for which the right number is the most similar."""
        return self.named([counted(each).text for each in range(1, MOST + 1)], lambda scene: number - 1)


def _phrases(scene: WordedScene) -> list[Phrase]:
    return [Phrase(LABEL_NAMES[thing.shape], COLOURS[thing.colour]) for thing in scene.things]


def _swapped_colours(scene: WordedScene) -> tuple[Text, Text]:
    first, second = _phrases(scene)
    swapped = replace(first, colour=second.colour), replace(second, colour=first.colour)
    return listed([first, second]).text, listed(swapped).text


def _swapped_places(scene: WordedScene) -> tuple[Text, Text]:
    relation = next(relation for relation in RELATIONS if lies(*scene.things, relation))
    first, second = _phrases(scene)
    return related(first, relation, second).text, related(second, relation, first).text


def _swapped_absence(scene: WordedScene) -> tuple[Text, Text]:
    first, second = (Phrase(LABEL_NAMES[thing.shape]) for thing in scene.things)
    shapes = {thing.shape for thing in scene.things}
    absent = next(shape for number, shape in enumerate(LABEL_NAMES) if number not in shapes)
    return without(first, Phrase(absent)).text, without(first, second).text
