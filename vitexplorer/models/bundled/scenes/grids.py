"""2 x 2 grids of scenes of four different classes, for the grid pointing game.

The pointing game on grids of Böhle et al. 2021 (arXiv 2104.00032, section 5): each class of the grid is explained in
turn, and the share of the map's positive part that lies in the cell of that class is its score; chance is a quarter.
Every cell is a scene of one object, drawn at half the grid's size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitexplorer.models.bundled.scenes.one import Scene, draw_scene
from vitexplorer.models.bundled.scenes.streams import generators

CELLS = 4
SOURCES = 100_000
"""cells are among the scenes 0 ... SOURCES - 1 of the grid's stream"""


@dataclass(frozen=True)
class Grid:
    """A picture of four scenes and the truth about it."""

    image: np.ndarray
    """(height, width, 3) uint8 RGB"""
    cells: np.ndarray
    """(4, height, width) bool: the pixels of each cell: top left, top right, bottom left, bottom right"""
    masks: np.ndarray
    """(4, height, width) bool: the pixels where the object of each cell is seen"""
    labels: tuple[int, ...]
    """indices into `LABEL_NAMES`, one for each cell, all different"""
    sources: tuple[int, ...]
    """the numbers of the scenes in their stream"""


def draw_grid(stream: str, index: int, size: int = 192) -> Grid:
    """Grid number `index` of a stream ("train", "validation", "test", "examples") at `size` x `size` pixels.

    Raises:
        ValueError: no such stream, or `size` is odd.
    """
    if size % 2:
        raise ValueError(f"A grid has an even number of pixels a side, not {size}.")
    (choice,) = generators(stream, index, 1, "grid")
    found: dict[int, tuple[int, Scene]] = {}
    while len(found) < CELLS:
        source = int(choice.integers(SOURCES))
        scene = draw_scene(stream, source, size // 2)
        found.setdefault(scene.label, (source, scene))
    sources, scenes = zip(*found.values(), strict=True)
    cells, masks = np.zeros((2, CELLS, size, size), bool)
    for number, (cell, scene) in enumerate(zip(cells, scenes, strict=True)):
        here = quarter(number, size)
        cell[here] = True
        masks[number][here] = scene.mask
    return Grid(tiled(np.stack([scene.image for scene in scenes])), cells, masks, tuple(found), sources)


def quarter(number: int, size: int) -> tuple[slice, slice]:
    """The rows and columns of cell number 0 ... 3 of a picture of `size` x `size`."""
    row, col = divmod(number, 2)
    half = size // 2
    return slice(row * half, (row + 1) * half), slice(col * half, (col + 1) * half)


def tiled(parts: np.ndarray) -> np.ndarray:
    """(4, height, width, ...) -> (2 height, 2 width, ...): four pictures beside each other, row by row."""
    return np.concatenate([np.concatenate(list(row), 1) for row in (parts[:2], parts[2:])], 0)
