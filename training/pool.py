"""Pictures drawn when they are first needed and kept as bytes, so that training does not wait for the drawing twice."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vitexplorer.scenes import VERSION, draw_scene
from vitexplorer.scenes.several import draw_several
from vitexplorer.scenes.shapes import LABEL_NAMES

SIZE = 192
NOTHING = len(LABEL_NAMES)
"""stands where no object is seen, beside the classes"""


@dataclass(frozen=True)
class Scenes:
    """Some scenes at 192 x 192 pixels."""

    images: np.ndarray
    """(scenes, height, width, 3) uint8 RGB"""
    masks: np.ndarray
    """(scenes, height, width) bool"""
    labels: np.ndarray
    """(scenes,) int64"""
    grounds: np.ndarray | None = None
    """(scenes, height, width, 3) uint8 RGB, the same scenes without their objects, where they were asked for"""
    shown: np.ndarray | None = None
    """(scenes, height, width) uint8, the class seen at each pixel or `NOTHING`, where scenes of several were drawn"""

    @property
    def classes(self) -> np.ndarray:
        """(scenes, height, width) uint8: the class seen at each pixel, or `NOTHING`."""
        if self.shown is not None:
            return self.shown
        return np.where(self.masks, self.labels[:, None, None], NOTHING).astype(np.uint8)

    def __len__(self) -> int:
        """How many scenes there are."""
        return len(self.labels)


class Pool(ABC):
    """Pictures 0 ... count - 1 of a stream, each drawn once."""

    def __init__(self, name: str, stream: str, count: int, folder: Path | None):
        """`name` of the kind of pictures, and the `folder` where they are kept (None: memory)."""
        self.stream, self._count = stream, count
        self._place = None if folder is None else Path(folder) / name
        self._drawn = self.room("drawn", (), bool)

    def __len__(self) -> int:
        """How many pictures there are."""
        return self._count

    @abstractmethod
    def take(self, chosen: np.ndarray | Sequence[int]) -> Any:
        """Copies of the chosen pictures, as the recipes that ask for them know them."""

    @abstractmethod
    def draw(self, index: int) -> None:
        """Draw one picture into its rooms."""

    def drawn(self, chosen: np.ndarray | Sequence[int]) -> np.ndarray:
        """The numbers as an array, each of them drawn by now."""
        chosen = np.asarray(chosen)
        for index in chosen[~self._drawn[chosen]]:
            self.draw(int(index))
            self._drawn[index] = True
        return chosen

    def room(self, part: str, shape: tuple[int, ...], kind: type) -> np.ndarray:
        """(count, *shape) zeros, or what an earlier run has kept there."""
        shape = self._count, *shape
        if self._place is None:
            return np.zeros(shape, kind)
        file = self._place / f"{part}.npy"
        file.parent.mkdir(parents=True, exist_ok=True)
        return np.lib.format.open_memmap(file, "r+" if file.exists() else "w+", kind, shape)


class ScenePool(Pool):
    """Scenes 0 ... count - 1 of a stream."""

    def __init__(
        self, stream: str, count: int, *, grounds: bool = False, several: bool = False, folder: Path | None = None
    ):
        """Args of the pool.

        Args:
            stream: its name.
            count: of scenes.
            grounds: whether to draw the scenes without objects too.
            several: whether every fourth scene has several objects; its label is that of the largest.
            folder: where to keep them (None: memory).
        """
        kind = "_several" if several else ""
        super().__init__(f"scenes_v{VERSION}_{stream}_{count}{kind}", stream, count, folder)
        self._images = self.room("images", (SIZE, SIZE, 3), np.uint8)
        self._masks = self.room("masks", (SIZE, SIZE), bool)
        self._labels = self.room("labels", (), np.int64)
        self._grounds = self.room("grounds", (SIZE, SIZE, 3), np.uint8) if grounds else None
        self._shown = self.room("shown", (SIZE, SIZE), np.uint8) if several else None
        self._grounds_drawn = self.room("grounds_drawn", (), bool) if grounds else None

    def take(self, chosen: np.ndarray | Sequence[int]) -> Scenes:
        """Copies of the chosen scenes."""
        chosen = self.drawn(chosen)
        shown = None if self._shown is None else self._shown[chosen]
        if self._grounds is None:
            return Scenes(self._images[chosen], self._masks[chosen], self._labels[chosen], shown=shown)
        for index in chosen[~self._grounds_drawn[chosen]]:
            self._grounds[index] = draw_scene(self.stream, int(index), SIZE, with_object=False).image
            self._grounds_drawn[index] = True
        return Scenes(self._images[chosen], self._masks[chosen], self._labels[chosen], self._grounds[chosen], shown)

    def draw(self, index: int) -> None:
        """Draw one scene."""
        if self._shown is not None and index % 4 == 3:
            scene = draw_several(self.stream, index, SIZE)
            mask, label = scene.masks.any(0), scene.labels[scene.largest]
            kinds = np.array([*scene.labels, NOTHING], np.uint8)
            self._shown[index] = kinds[np.where(mask, scene.masks.argmax(0), -1)]
        else:
            scene = draw_scene(self.stream, index, SIZE)
            mask, label = scene.mask, scene.label
            if self._shown is not None:
                self._shown[index] = np.where(mask, label, NOTHING)
        self._images[index], self._masks[index], self._labels[index] = scene.image, mask, label


def draw_scenes(stream: str, count: int) -> Scenes:
    """Scenes 0 ... count - 1 of a stream."""
    return ScenePool(stream, count).take(range(count))
