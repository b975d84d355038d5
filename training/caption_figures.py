"""Figures of the captioner: what its captions of held-out worded scenes say rightly."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np
import torch
from torch import nn

from training.measure import batches
from training.recipe import Figures, Recipe
from training.shipped import load
from vitexplorer.core.text import Language
from vitexplorer.core.text_results import sentence_of
from vitexplorer.models.texts.captioner import Captioner, captioner_at
from vitexplorer.scenes.captions import caption_of
from vitexplorer.scenes.several import MOST
from vitexplorer.scenes.shapes import LABEL_NAMES
from vitexplorer.scenes.vocabulary import COLOUR_WORDS, PATTERN_WORDS, SHAPE_WORDS, Words
from vitexplorer.scenes.worded import COLOURS, draw_worded

SCENES = 500
"""Scenes of each number of things"""
Pair = tuple[int, int]
"""Colour and shape of a thing"""


class _Written(NamedTuple):
    """A caption in one language, and the truth."""

    things: list[Pair]
    """Things of the scene"""
    named: list[Pair]
    """Things of the caption"""
    is_right: bool
    """True if the caption is the scene's, patterns aside"""


@torch.inference_mode()
def caption_figures(recipe: Recipe, folder: Path) -> Figures:
    """Measure the shares of right captions, the mean of both languages."""
    model, captioner = load(folder), captioner_at(folder)
    written = {count: list(_written(model, captioner, count)) for count in range(1, MOST + 1)}
    several = [
        (thing, caption) for count in range(2, MOST + 1) for caption in written[count] for thing in caption.things
    ]
    return {
        "shape in the caption": _share(_has(1, row.things[0], row) for row in written[1]),
        "colour in the caption": _share(_has(0, row.things[0], row) for row in written[1]),
        "things in the caption, of several": _share(thing in row.named for thing, row in several),
        "colours put to the right shapes": _share(thing in row.named for thing, row in several if _has(1, thing, row)),
        "relation right between the right things": _share(
            row.is_right for row in written[2] if set(row.things) == set(row.named)
        ),
        "things counted, of four numbers": _share(
            len(row.named) == count for count, rows in written.items() for row in rows
        ),
    }


def _has(part: int, thing: Pair, row: _Written) -> bool:
    return any(named[part] == thing[part] for named in row.named)


def _share(answers: Iterable[bool]) -> float:
    return float(np.mean(list(answers)))


def _written(model: nn.Module, captioner: Captioner, count: int) -> Iterator[_Written]:
    """Yield the captions of scenes with a number of things, in each language."""
    drawn = (draw_worded("test", index, count=count) for index in range(SCENES))
    scenes = [scene for scene in drawn if all(thing.area > 0 for thing in scene.things)]
    images = np.stack([scene.image for scene in scenes])
    tokens = torch.cat([model.forward_features(batch) for batch in batches(model, images)])
    for scene, image in zip(scenes, tokens, strict=True):
        things = [(thing.colour, thing.shape) for thing in scene.things]
        for language in get_args(Language):
            true = caption_of(scene.things).text.in_(language)
            words = captioner.words_of(captioner.write(image, language))
            caption = sentence_of(words)
            yield _Written(things, _named(caption), _PATTERN.sub("", caption) == _PATTERN.sub("", true))


def _named(caption: str) -> list[Pair]:
    """Return the things that a caption names."""
    return [(_COLOURS[colour], _SHAPES[shape]) for colour, shape in _THING.findall(caption)]


def _numbers(table: Mapping[str, Words], names: Sequence[str]) -> dict[str, int]:
    """Return the number of each usual word, English or Chinese."""
    return {words[0]: number for number, name in enumerate(names) for words in table[name]}


def _any_of(words: Iterable[str]) -> str:
    return f"({'|'.join(sorted(words, key=len, reverse=True))})"


_SHAPES, _COLOURS = _numbers(SHAPE_WORDS, LABEL_NAMES), _numbers(COLOUR_WORDS, COLOURS)
_THING = re.compile(f"{_any_of(_COLOURS)}[ 的]{_any_of(_SHAPES)}")
_PATTERN = re.compile(f"{_any_of(words[0] for table in PATTERN_WORDS.values() for words in table)} ?")
