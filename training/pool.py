"""Pools of pictures that are drawn on first use and then stored as bytes."""

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
"""Index for pixels without an object"""


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
    """(scenes, height, width, 3) uint8 RGB, the same scenes without their objects, if requested"""
    class_map: np.ndarray | None = None
    """(scenes, height, width) uint8, the class at each pixel or `NOTHING`, if scenes have several objects"""

    @property
    def classes(self) -> np.ndarray:
        """Class at each pixel or `NOTHING`, (scenes, height, width) uint8."""
        if self.class_map is not None:
            return self.class_map
        return np.where(self.masks, self.labels[:, None, None], NOTHING).astype(np.uint8)

    def __len__(self) -> int:
        """Count the scenes."""
        return len(self.labels)


class Pool(ABC):
    """Pictures 0 ... count - 1 of a stream, each drawn once."""

    def __init__(self, name: str, stream: str, count: int, folder: Path | None):
        """Make a pool called `name`, stored in `folder` (None: memory)."""
        self.stream = stream
        self._count = count
        self._place = None if folder is None else Path(folder) / name
        self._drawn = self.room("drawn", (), bool)

    def __len__(self) -> int:
        """Count the pictures."""
        return self._count

    @abstractmethod
    def take(self, chosen: np.ndarray | Sequence[int]) -> Any:
        """Copy the chosen pictures, in the form that their recipes read."""

    @abstractmethod
    def draw(self, index: int) -> None:
        """Draw one picture into its rooms."""

    def drawn(self, chosen: np.ndarray | Sequence[int]) -> np.ndarray:
        """Draw the chosen pictures that are missing and return their numbers as an array."""
        chosen = np.asarray(chosen)
        for index in chosen[~self._drawn[chosen]]:
            self.draw(int(index))
            self._drawn[index] = True
        return chosen

    def room(self, part: str, shape: tuple[int, ...], kind: type) -> np.ndarray:
        """Make an array (count, *shape) of zeros, or open the array of an earlier run."""
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
        """Use the first scenes of a stream.

        Args:
            stream: name of the stream.
            count: number of scenes.
            grounds: draw the scenes without objects too.
            several: give every fourth scene several objects; its label is the largest object's.
            folder: folder to store them in (None: memory).
        """
        kind = "_several" if several else ""
        super().__init__(f"scenes_v{VERSION}_{stream}_{count}{kind}", stream, count, folder)
        self._images = self.room("images", (SIZE, SIZE, 3), np.uint8)
        self._masks = self.room("masks", (SIZE, SIZE), bool)
        self._labels = self.room("labels", (), np.int64)
        self._grounds = self.room("grounds", (SIZE, SIZE, 3), np.uint8) if grounds else None
        self._class_map = self.room("shown", (SIZE, SIZE), np.uint8) if several else None
        self._grounds_drawn = self.room("grounds_drawn", (), bool) if grounds else None

    def take(self, chosen: np.ndarray | Sequence[int]) -> Scenes:
        """Copy the chosen scenes."""
        chosen = self.drawn(chosen)
        class_map = None if self._class_map is None else self._class_map[chosen]
        if self._grounds is None:
            return Scenes(self._images[chosen], self._masks[chosen], self._labels[chosen], class_map=class_map)
        for index in chosen[~self._grounds_drawn[chosen]]:
            self._grounds[index] = draw_scene(self.stream, int(index), SIZE, with_object=False).image
            self._grounds_drawn[index] = True
        return Scenes(self._images[chosen], self._masks[chosen], self._labels[chosen], self._grounds[chosen], class_map)

    def draw(self, index: int) -> None:
        """Draw one scene."""
        if self._class_map is not None and index % 4 == 3:
            scene = draw_several(self.stream, index, SIZE)
            mask = scene.masks.any(0)
            label = scene.labels[scene.largest]
            kinds = np.array([*scene.labels, NOTHING], np.uint8)
            self._class_map[index] = kinds[np.where(mask, scene.masks.argmax(0), -1)]
        else:
            scene = draw_scene(self.stream, index, SIZE)
            mask, label = scene.mask, scene.label
            if self._class_map is not None:
                self._class_map[index] = np.where(mask, label, NOTHING)
        self._images[index], self._masks[index], self._labels[index] = scene.image, mask, label


def draw_scenes(stream: str, count: int) -> Scenes:
    """Draw scenes 0 ... count - 1 of a stream."""
    return ScenePool(stream, count).take(range(count))
