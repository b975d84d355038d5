"""Cases with a known truth: drawn scenes of one object, grids of them, worded scenes for texts, and paper creatures.

Case i of a kind is the same on every machine. Pictures are those of the stream "test", unseen in training.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import cv2
import numpy as np
import torch

from vitexplorer.capturing.capture import prepare
from vitexplorer.evaluation.case import Case
from vitexplorer.evaluation.parted import Parted
from vitexplorer.models.loading import LoadedModel
from vitexplorer.quantities.read_out import displayed_values
from vitexplorer.scenes import Scene, draw_scene
from vitexplorer.scenes.creatures import Creature
from vitexplorer.scenes.paper import box_of
from vitexplorer.scenes.sentences import Phrase, with_article
from vitexplorer.scenes.shapes import LABEL_NAMES
from vitexplorer.scenes.worded import COLOURS, Thing, WordedScene, draw_worded

STREAM = "test"
CELLS = 4
"""Cells of a grid, two rows of two"""
POOL = 400
"""Number of scenes that grids are made of"""
ROOM = 1.1
"""Side of the window around a large object, as a multiple of the object's box"""
SURE = 0.9
"""Minimum probability of the right class for a scene that a model knows"""


def scene_cases(count: int, size: int) -> list[Case]:
    """Make the first scenes with a visible object, at size x size pixels; the target is its class."""
    drawn = (scene for index in itertools.count() if (scene := _scene(index, size)).mask.any())
    return [Case(scene.image, scene.label, scene.mask) for scene in itertools.islice(drawn, count)]


def grid_cases(count: int, size: int, *, seed: int = 0, known: Sequence[int] | None = None) -> list[Case]:
    """Make cases from grids of four different classes; every cell shows a window around the object of a scene.

    Each cell is the target in turn. A window has the size of a cell, so objects are as large as in the training scenes;
    a larger window is used, and shrunk, for an object that does not fit.

    Args:
        count: number of cases; a grid gives four of them.
        size: side of the grid in pixels, an even number.
        seed: seed of the combination of scenes.
        known: numbers of the allowed scenes, see `known_scenes`; None for the first `POOL`.

    Raises:
        ValueError: the scenes have too few classes for a grid.
    """
    cases: list[Case] = []
    labels = _labels(tuple(range(POOL) if known is None else known))
    if len(set(labels.values())) < CELLS:
        raise ValueError(f"A grid of {CELLS} classes cannot be made of {len(set(labels.values()))}.")
    rng = np.random.default_rng(seed)
    while len(cases) < count:
        chosen: dict[int, int] = {}
        for index in rng.permutation(list(labels)).tolist():
            chosen.setdefault(labels[index], index)
            if len(chosen) == CELLS:
                break
        cases += grid_of([_scene(index, size) for index in chosen.values()])
    return cases[:count]


def grid_of(scenes: Sequence[Scene]) -> list[Case]:
    """Make a case for each cell of a grid of windows around the objects of four scenes, row by row."""
    side = len(scenes[0].image) // 2
    image = np.zeros((2 * side, 2 * side, 3), np.uint8)
    masks, cells = np.zeros((2, CELLS, 2 * side, 2 * side), bool)
    for at, scene in enumerate(scenes):
        row, col = divmod(at, 2)
        here = np.s_[row * side : (row + 1) * side, col * side : (col + 1) * side]
        image[here], masks[at][here] = _window(scene, side)
        cells[at][here] = True
    return [Case(image, scene.label, masks[at], cells[at]) for at, scene in enumerate(scenes)]


def _window(scene: Scene, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Cut a window with the whole object, centred on it: pixels (size, size, 3) and mask (size, size)."""
    whole = len(scene.image)
    top, left, bottom, right = box_of(scene.mask)
    side = min(whole, max(size, math.ceil(ROOM * max(bottom - top, right - left))))
    row, col = (int(np.clip((a + b - side) / 2, 0, whole - side)) for a, b in ((top, bottom), (left, right)))
    here = np.s_[row : row + side, col : col + side]
    mask = cv2.resize(scene.mask[here].astype(np.uint8), (size, size), interpolation=cv2.INTER_NEAREST)
    return cv2.resize(scene.image[here], (size, size), interpolation=cv2.INTER_AREA), mask > 0


def worded_cases(count: int, size: int) -> list[Case]:
    """Make cases of worded scenes of one to four things, of which one is asked for: "text: a red gear"."""
    drawn = (draw_worded(STREAM, index, size) for index in itertools.count())
    visible = (scene for scene in drawn if scene.things and scene.masks.any((1, 2)).all())
    cases = []
    for index, scene in enumerate(itertools.islice(visible, count)):
        asked = index % len(scene.things)
        cases.append(Case(scene.image, _text_of(scene.things[asked]), scene.masks[asked]))
    return cases


def worded_grid_cases(count: int, size: int) -> list[Case]:
    """Make cases from grids of four worded scenes of one thing, of different shapes and colours, as `grid_cases`."""
    rng = np.random.default_rng(0)
    drawn = (draw_worded(STREAM, index, size, count=1) for index in range(POOL))
    scenes = [scene for scene in drawn if scene.masks.any()]
    cases: list[Case] = []
    while len(cases) < count:
        four: list[WordedScene] = []
        for number in rng.permutation(len(scenes)).tolist():
            thing = scenes[number].things[0]
            others = [scene.things[0] for scene in four]
            if len(four) < CELLS and all(thing.shape != o.shape and thing.colour != o.colour for o in others):
                four.append(scenes[number])
        parts = [Scene(s.image, s.masks[0], s.things[0].shape, box_of(s.masks[0])) for s in four]
        things = [scene.things[0] for scene in four]
        cases += [replace(case, target=_text_of(thing)) for case, thing in zip(grid_of(parts), things, strict=True)]
    return cases[:count]


def _text_of(thing: Thing) -> str:
    """Return the target that asks for a thing."""
    return f"text: {with_article(Phrase(LABEL_NAMES[thing.shape], COLOURS[thing.colour])).en}"


def parted_case(picture: Parted) -> Case:
    """Make a case of a picture with parts; the target is its class."""
    return Case(picture.render(), picture.label, parted=picture)


def creature_cases(count: int, size: int) -> list[Case]:
    """Make the first paper creatures, at size x size pixels."""
    return [parted_case(Creature(STREAM, index, size)) for index in range(count)]


@torch.no_grad()
def known_scenes(model: LoadedModel) -> list[int]:
    """Return the first `POOL` scenes that a model, seeing each alone, classifies right with at least `SURE`.

    Tries at most four times as many, as an untrained model knows none.
    """
    size = model.preprocessing.input_size[0]

    def is_known(index: int) -> bool:
        scene = _scene(index, size)
        answer = displayed_values(model.module(prepare(model, scene.image, "squash").tensor)[0])
        return bool(scene.mask.any()) and float(answer[scene.label]) >= SURE

    return list(itertools.islice(filter(is_known, range(4 * POOL)), POOL))


@lru_cache(maxsize=64)
def _labels(indices: tuple[int, ...]) -> dict[int, int]:
    """Return the class of each scene with a visible object, by number."""
    drawn = ((index, _scene(index, 48)) for index in indices)
    return {index: scene.label for index, scene in drawn if scene.mask.any()}


def _scene(index: int, size: int) -> Scene:
    return draw_scene(STREAM, index, size)
