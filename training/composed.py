"""Pictures in which several classes are to be seen, for training: scenes, and 2 x 2 grids of windows about objects.

Every picture says which classes it shows (several labels, not one) and what each of its cells shows. Some pictures lose
a part of their patches to the mean colour: what deletion and occlusion show a model is then nothing new to it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from einops import rearrange
from torch import Tensor

from training.crops import about_object, cut
from training.pool import NOTHING, Scenes

KINDS = NOTHING + 1
"""what a pixel can show: a class or nothing"""
GRIDS = 10
"""of a batch; each takes four of its scenes"""
LEAST = 0.004
"""share of the picture from which on a class counts as shown; below it nothing is asked about the class"""
HIDDEN_PICTURES, HIDDEN_PATCHES = 0.5, 0.5
"""share of the pictures that lose patches, and the most that one of them loses"""


class Composed(NamedTuple):
    """A batch of pictures."""

    images: Tensor
    """(batch, 3, size, size) float 0-1, then hidden patches at the mean colour"""
    present: Tensor
    """(batch, classes) float: 1 shown, 0 not shown"""
    asked: Tensor
    """(batch, classes) float: 0 where too little is seen to ask, else 1"""
    cover: Tensor
    """(batch, cells, classes + 1) float: the share of each cell that shows each class, the last one nothing"""


def composed(
    scenes: Scenes, rng: np.random.Generator, size: int, cell: int, mean: float, grids: int = GRIDS
) -> Composed:
    """Up to `grids` grids of four scenes each, as many as a quarter of the batch allows for, and the rest whole.

    Scenes of one object go into the grids first, cut out about it, closely or less so. `cell` is the side in pixels of
    what one token stands for, `mean` the colour of what is hidden.
    """
    grids = min(grids, len(scenes) // 4)
    known = scenes.classes
    several = (scenes.masks & (known != scenes.labels[:, None, None])).any((1, 2))
    order = np.lexsort((rng.uniform(size=len(scenes)), several))
    pictures = [
        _grid([_window(scenes, known, number, rng, size // 2, zoom=rng.uniform()) for number in four])
        for four in order[: 4 * grids].reshape(grids, 4)
    ]
    pictures += [_window(scenes, known, number, rng, size) for number in order[4 * grids :]]
    images, shown = (np.stack(part) for part in zip(*pictures, strict=True))

    gain = torch.from_numpy(rng.uniform(0.75 / 255, 1.25 / 255, (len(images), 3, 1, 1)).astype(np.float32))
    batch = torch.from_numpy(images).permute(0, 3, 1, 2).float().mul_(gain).clamp_(0, 1)
    hidden = torch.from_numpy(_hidden(rng, len(images), size // cell).repeat(cell, 1).repeat(cell, 2))
    batch = torch.where(hidden[:, None], mean, batch)
    shown = np.where(hidden.numpy(), NOTHING, shown)
    cells = shares_of(shown, cell, KINDS)
    share = cells.mean(1)[:, :NOTHING]
    present, asked = share >= LEAST, (share == 0) | (share >= LEAST)
    return Composed(batch, *(torch.from_numpy(part).float() for part in (present, asked, cells)))


def _window(
    scenes: Scenes, known: np.ndarray, number: int, rng: np.random.Generator, size: int, zoom: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """A turned and mirrored window of a scene, its channels in random order; the class at each of its pixels."""
    window = about_object(scenes.masks[number], rng, zoom)
    image = cut(scenes.images[number], window, size)[..., rng.permutation(3)]
    return image, cut(known[number], window, size, blend=False)


def _grid(cells: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    images, shown = zip(*cells, strict=True)
    return tiled(np.stack(images)), tiled(np.stack(shown))


def tiled(parts: np.ndarray) -> np.ndarray:
    """(4, height, width, ...) -> (2 height, 2 width, ...): four pictures beside each other, row by row."""
    return np.concatenate([np.concatenate(list(row), 1) for row in (parts[:2], parts[2:])], 0)


def shares_of(shown: np.ndarray, cell: int, kinds: int) -> np.ndarray:
    """(batch, size, size) numbers of kinds -> (batch, cells, kinds) float32: the share of each cell that shows each."""
    pixels = rearrange(shown, "n (rows h) (cols w) -> (n rows cols) (h w)", h=cell, w=cell)
    counts = np.bincount((pixels + kinds * np.arange(len(pixels))[:, None]).ravel(), minlength=kinds * len(pixels))
    return counts.reshape(len(shown), -1, kinds).astype(np.float32) / cell**2


def _hidden(rng: np.random.Generator, count: int, side: int) -> np.ndarray:
    """(count, side, side) bool: the patches that each picture loses."""
    share = rng.uniform(0, HIDDEN_PATCHES, count) * (rng.uniform(size=count) < HIDDEN_PICTURES)
    return rng.uniform(size=(count, side, side)) < share[:, None, None]
