"""Training pictures of several classes: scenes, and 2 x 2 grids of windows about objects.

Every picture has labels for all classes in it and for the content of each of its cells. In some pictures a part of the
patches is replaced by the mean colour, so that the inputs of deletion and occlusion are not new to the model.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from einops import rearrange
from torch import Tensor

from training.crops import about_object, cut, tinted
from training.pool import NOTHING, Scenes

KINDS = NOTHING + 1
"""Number of kinds of pixels: the classes, and nothing"""
GRIDS = 10
"""Grids in a batch, of four scenes each"""
LEAST = 0.004
"""Share of the picture from which a class counts as present; smaller ones do not enter the loss"""
HIDDEN_PICTURES, HIDDEN_PATCHES = 0.5, 0.5
"""Share of the pictures that lose patches, and the largest share of patches that a picture loses"""


class Composed(NamedTuple):
    """A batch of pictures."""

    images: Tensor
    """(batch, 3, size, size) float 0-1, then hidden patches at the mean colour"""
    present: Tensor
    """(batch, classes) float: 1 present, 0 absent"""
    asked: Tensor
    """(batch, classes) float: 0 where too little is visible to count, else 1"""
    cover: Tensor
    """(batch, cells, classes + 1) float: the share of each cell that shows each class, the last one nothing"""


def composed(
    scenes: Scenes, rng: np.random.Generator, size: int, cell: int, mean: float, grids: int = GRIDS
) -> Composed:
    """Compose up to `grids` grids of four scenes each, at most a quarter of the batch, and leave the rest whole.

    Scenes of one object go into the grids first, cropped about it more or less closely. `cell` is the side in pixels of
    the area of one token, `mean` the colour of hidden patches.
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
    images, classes = zip(*pictures, strict=True)
    batch = tinted(images, rng)
    hidden = torch.from_numpy(_hidden(rng, len(images), size // cell).repeat(cell, 1).repeat(cell, 2))
    batch = torch.where(hidden[:, None], mean, batch)
    classes = np.where(hidden.numpy(), NOTHING, np.stack(classes))
    cells = shares_of(classes, cell, KINDS)
    share = cells.mean(1)[:, :NOTHING]
    present, asked = share >= LEAST, (share == 0) | (share >= LEAST)
    return Composed(batch, *(torch.from_numpy(part).float() for part in (present, asked, cells)))


def _window(
    scenes: Scenes, known: np.ndarray, number: int, rng: np.random.Generator, size: int, zoom: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Cut a turned and mirrored window from a scene, channels in random order, and the class at each of its pixels."""
    window = about_object(scenes.masks[number], rng, zoom)
    image = cut(scenes.images[number], window, size)[..., rng.permutation(3)]
    return image, cut(known[number], window, size, blend=False)


def _grid(cells: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    images, classes = zip(*cells, strict=True)
    return tiled(np.stack(images)), tiled(np.stack(classes))


def tiled(parts: np.ndarray) -> np.ndarray:
    """Tile four pictures row by row, (4, height, width, ...) -> (2 height, 2 width, ...)."""
    return np.concatenate([np.concatenate(list(row), 1) for row in (parts[:2], parts[2:])], 0)


def shares_of(classes: np.ndarray, cell: int, kinds: int) -> np.ndarray:
    """Compute each kind's share of each cell, (batch, size, size) numbers -> (batch, cells, kinds) float32."""
    pixels = rearrange(classes, "n (rows h) (cols w) -> (n rows cols) (h w)", h=cell, w=cell)
    counts = np.bincount((pixels + kinds * np.arange(len(pixels))[:, None]).ravel(), minlength=kinds * len(pixels))
    return counts.reshape(len(classes), -1, kinds).astype(np.float32) / cell**2


def _hidden(rng: np.random.Generator, count: int, side: int) -> np.ndarray:
    """Choose the patches that each picture loses, (count, side, side) bool."""
    share = rng.uniform(0, HIDDEN_PATCHES, count) * (rng.uniform(size=count) < HIDDEN_PICTURES)
    return rng.uniform(size=(count, side, side)) < share[:, None, None]
