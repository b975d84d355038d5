"""Truth of text maps on worded scenes: the thing that a text means, and whether a map's highest patch lies on it.

The measure is the pointing game of Zhang et al. 2016 (arXiv 1608.00507), as in `evaluation.pointing`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from vitexplorer.models.examples import examples

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture
    from vitexplorer.scenes.sentences import Phrase
    from vitexplorer.scenes.worded import WordedScene

_DENIES = re.compile(r"\b(no|not|without)\b|没有|不带", re.IGNORECASE)


@cache
def worded_scene(image_hash: str) -> WordedScene | None:
    """Draw the worded scene that an example shows, once and at one size; None for other images."""
    from vitexplorer.scenes.worded import draw_worded

    number = next((example.worded for example in examples().values() if example.hash == image_hash), None)
    return None if number is None else draw_worded("examples", number)


def masks_meant(texts: Sequence[str], capture: Capture) -> list[np.ndarray | None]:
    """Return for each text the cells whose middle shows the one thing that it means, bool (rows, cols).

    None where a text means no thing or several, or denies one.
    """
    grid, scene = capture.grid(capture.depth - 1), worded_scene(capture.input.image_hash)
    if scene is None or grid.rows != grid.cols:
        return [None] * len(texts)
    middles = ((np.arange(grid.rows) + 0.5) / grid.rows * len(scene.image)).astype(int)
    masks = []
    for text in texts:
        phrase = phrase_of(text)
        fits = [number for number, thing in enumerate(scene.things) if phrase and phrase.fits(thing)]
        masks.append(scene.masks[fits[0]][np.ix_(middles, middles)] if len(fits) == 1 else None)
    return masks


def phrase_of(text: str) -> Phrase | None:
    """Read what a text says of one thing; None where it says nothing, says two things, or denies something."""
    from vitexplorer.scenes.sentences import Phrase
    from vitexplorer.scenes.vocabulary import TABLES

    named = {
        word: (part, value)
        for part, table in TABLES.items()
        for value, languages in table.items()
        for words in languages
        for word in words
    }
    longest_first = sorted(map(re.escape, named), key=len, reverse=True)
    pattern = "|".join(rf"\b{word}\b" if word.isascii() else word for word in longest_first)
    facts = [named[word] for word in re.findall(pattern, text.lower())]
    values = dict(facts)
    if not facts or len(values) < len(set(facts)) or _DENIES.search(text):
        return None
    return Phrase(**values)


def points_rightly(maps: np.ndarray, masks: Sequence[np.ndarray | None], capture: Capture) -> list[bool | None]:
    """Say of each text's map, (texts, patches), if its highest patch lies on what the text means; None if unknown."""
    from vitexplorer.evaluation.pointing import points_at

    grid = replace(capture.grid(capture.depth - 1), patch_size=1)  # a mask has one entry for each cell
    return [
        None if mask is None else points_at(values.reshape(grid.rows, grid.cols), grid, mask)
        for values, mask in zip(maps, masks, strict=True)
    ]
