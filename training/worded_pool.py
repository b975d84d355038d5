"""Pool of worded scenes: pictures, the thing at each pixel, and each thing's shape, colour and pattern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from training.pool import SIZE, Pool
from vitexplorer.scenes import VERSION
from vitexplorer.scenes.several import MOST
from vitexplorer.scenes.worded import draw_worded

NO_THING = 255
"""Number at the pixels that show no thing"""


@dataclass(frozen=True)
class WordedScenes:
    """Some worded scenes at 192 x 192 pixels."""

    images: np.ndarray
    """(scenes, height, width, 3) uint8 RGB"""
    things: np.ndarray
    """(scenes, height, width) uint8: the number of the thing at each pixel, or `NO_THING`"""
    facts: np.ndarray
    """(scenes, MOST, 3) uint8: shape, colour and pattern of each thing"""
    counts: np.ndarray
    """(scenes,) uint8: number of things"""


class WordedPool(Pool):
    """Worded scenes 0 ... count - 1 of a stream."""

    def __init__(self, stream: str, count: int, *, folder: Path | None = None):
        """Use the first scenes of a stream, stored in `folder` (None: memory)."""
        super().__init__(f"worded_v{VERSION}_{stream}_{count}", stream, count, folder)
        self._images = self.room("images", (SIZE, SIZE, 3), np.uint8)
        self._things = self.room("things", (SIZE, SIZE), np.uint8)
        self._facts = self.room("facts", (MOST, 3), np.uint8)
        self._counts = self.room("counts", (), np.uint8)

    def take(self, chosen: np.ndarray | Sequence[int]) -> WordedScenes:
        """Copy the chosen scenes."""
        chosen = self.drawn(chosen)
        return WordedScenes(self._images[chosen], self._things[chosen], self._facts[chosen], self._counts[chosen])

    def draw(self, index: int) -> None:
        """Draw one scene."""
        scene = draw_worded(self.stream, index, SIZE)
        self._images[index] = scene.image
        self._things[index] = NO_THING
        for number, (mask, thing) in enumerate(zip(scene.masks, scene.things, strict=True)):
            self._things[index][mask] = number
            self._facts[index, number] = thing.shape, thing.colour, thing.pattern
        self._counts[index] = len(scene.things)
