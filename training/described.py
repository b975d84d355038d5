"""Training pictures with sentences: worded scenes, windows of them, and 2 x 2 grids of windows about their things.

Every picture comes with a few sentences that are true of it. Which sentence is true of which picture of the batch is
known too, so that a sentence is held against no picture that it fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from training.composed import shares_of, tiled
from training.crops import about_object, cut
from training.worded_pool import NO_THING, WordedScenes
from vitexplorer.core.text import Text
from vitexplorer.scenes.drawn_sentences import drawn_sentence
from vitexplorer.scenes.several import MOST
from vitexplorer.scenes.shapes import LABEL_NAMES
from vitexplorer.scenes.worded import COLOURS, Thing, thing_of

GRIDS = 8
"""Grids of four scenes in a batch"""
WINDOWS = 0.5
"""Share of the other pictures that show a window of their scene"""
SENTENCES = 3
"""Sentences for each picture"""
LEAST = 0.002
"""Share of the picture below which a thing is not spoken of"""
_KINDS = (len(LABEL_NAMES), len(COLOURS))


class Described(NamedTuple):
    """A batch of pictures and the sentences about them."""

    images: Tensor
    """(batch, 3, size, size) float 0-1"""
    texts: list[str]
    """Sentences, `SENTENCES` for each picture in turn, each in English or Chinese"""
    true: Tensor
    """(batch, texts) bool: the sentence is true of the picture"""
    named: Tensor
    """(batch, shapes) bool: the picture shows the shape"""
    shapes: Tensor
    """(batch, cells, shapes + 1) float: the share of each cell that shows each shape, the last one nothing"""
    colours: Tensor
    """(batch, cells, colours + 1) float: the same for the colours of things"""


class Picture(NamedTuple):
    """A training picture and what is in it."""

    image: np.ndarray
    """(size, size, 3) uint8 RGB"""
    things: np.ndarray
    """(size, size) uint8: the number of the thing at each pixel, or `NO_THING`"""
    facts: np.ndarray
    """(things, 3) uint8: shape, colour and pattern of each thing"""


def described(scenes: WordedScenes, rng: np.random.Generator, size: int, cell: int) -> Described:
    """Compose grids of the scenes with one thing, take the rest alone, and draw sentences about each picture."""
    single = np.flatnonzero(scenes.counts == 1)
    four = rng.permutation(single)[: 4 * min(GRIDS, len(single) // 4)].reshape(-1, 4)
    whole = [number for number in range(len(scenes.counts)) if number not in four]
    pictures = [_grid(scenes, numbers, size, rng) for numbers in four]
    pictures += [whole_picture(scenes, number, size, rng) for number in whole]

    things = [things_in(picture) for picture in pictures]
    sentences = [drawn_sentence(about, rng) for about in things for _ in range(SENTENCES)]
    true = [[sentence.true_of(about) for sentence in sentences] for about in things]
    named = [[any(thing.shape == label for thing in about) for label in range(len(LABEL_NAMES))] for about in things]
    images = images_of(pictures, rng)
    covers = [_cover(pictures, kind, cell) for kind in range(2)]
    texts = spoken([sentence.text for sentence in sentences], rng)
    return Described(images, texts, torch.tensor(true), torch.tensor(named), *covers)


def images_of(pictures: Sequence[Picture], rng: np.random.Generator) -> Tensor:
    """Stack pictures, each a little brighter or darker, (batch, 3, size, size) float 0-1."""
    gain = torch.from_numpy(rng.uniform(0.9 / 255, 1.1 / 255, (len(pictures), 1, 1, 1)).astype(np.float32))
    images = torch.from_numpy(np.stack([picture.image for picture in pictures])).permute(0, 3, 1, 2).float()
    return images.mul_(gain).clamp_(0, 1)


def _grid(scenes: WordedScenes, numbers: np.ndarray, size: int, rng: np.random.Generator) -> Picture:
    images, things = [], []
    for place, number in enumerate(numbers):
        window = about_object(scenes.things[number] != NO_THING, rng, zoom=rng.uniform())
        images.append(cut(scenes.images[number], window, size // 2))
        visible = cut(scenes.things[number], window, size // 2, blend=False) != NO_THING
        things.append(np.where(visible, place, NO_THING).astype(np.uint8))
    return Picture(tiled(np.stack(images)), tiled(np.stack(things)), scenes.facts[numbers, 0])


def whole_picture(scenes: WordedScenes, number: int, size: int, rng: np.random.Generator) -> Picture:
    """Take a scene as it is, or half of the time a turned and mirrored window that holds its things."""
    image, things = scenes.images[number], scenes.things[number]
    if rng.uniform() < WINDOWS:
        window = about_object(things != NO_THING, rng, zoom=rng.uniform())
        image, things = cut(image, window, size), cut(things, window, size, blend=False)
    return Picture(image, things, scenes.facts[number])


def things_in(picture: Picture) -> list[Thing]:
    """Return the things of a picture that are large enough to be spoken of."""
    found = (thing_of(picture.things == at, *map(int, fact)) for at, fact in enumerate(picture.facts))
    return [thing for thing in found if thing.area > LEAST]


def _cover(pictures: Sequence[Picture], kind: int, cell: int) -> Tensor:
    """Compute the share of each shape (kind 0) or colour (1) in each cell."""
    nothing = _KINDS[kind]
    maps = []
    for picture in pictures:
        table = np.full(256, nothing, np.uint8)
        table[:MOST] = picture.facts[:, kind]
        maps.append(table[picture.things])
    return torch.from_numpy(shares_of(np.stack(maps), cell, nothing + 1))


def spoken(texts: Sequence[Text], rng: np.random.Generator) -> list[str]:
    """Say each text in English or in Chinese."""
    is_english = rng.uniform(size=len(texts)) < 0.5
    return [text.en if english else text.zh for text, english in zip(texts, is_english, strict=True)]


def contrastive_loss(logits: Tensor, true: Tensor) -> Tensor:
    """Compute the softmax loss of CLIP both ways, with every true pair as an answer; both are (pictures, texts).

    Khosla et al. 2020, arXiv 2004.11362, equation 2.
    """
    ways = []
    for scores, answers in ((logits, true), (logits.T, true.T)):
        right = answers.float() / answers.sum(1, keepdim=True)
        ways.append(F.cross_entropy(scores, right))
    return sum(ways) / 2


def naming_loss(logits: Tensor, named: Tensor) -> Tensor:
    """Compute the softmax loss of pictures over the names of all shapes; both are (pictures, shapes)."""
    some = named.any(1)
    right = named[some].float()
    return F.cross_entropy(logits[some], right / right.sum(1, keepdim=True))


def sigmoid_loss(logits: Tensor, true: Tensor) -> Tensor:
    """Compute the loss of SigLIP, a sigmoid for each pair (Zhai et al. 2023, arXiv 2303.15343, equation 1)."""
    signs = 2 * true.float() - 1
    return -F.logsigmoid(signs * logits).sum(1).mean()
