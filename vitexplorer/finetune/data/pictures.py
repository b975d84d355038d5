"""Map-style dataset of images and targets for torch's DataLoader."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from vitexplorer.core.settings import settings
from vitexplorer.finetune.data.cache import PictureCache
from vitexplorer.models.images import open_shrunk
from vitexplorer.storage.dataset import Dataset


class Pictures:
    """Map-style dataset for `torch.utils.data.DataLoader`: (picture, target) in the order of `indices`.

    The picture is uint8 RGB (height, width, 3), upright, with its aspect ratio and a shorter side of at most
    `short_side` pixels; `transform` turns it into the item to batch. The target is an int class or a float.
    """

    def __init__(
        self,
        dataset: Dataset,
        indices: Sequence[int] | None = None,
        *,
        short_side: int,
        cache: PictureCache | None = None,
        transform: Callable[[np.ndarray], Any] | None = None,
    ):
        """Prepare the dataset; nothing is decoded yet.

        Args:
            dataset: images and targets.
            indices: one side of a split, or None for all images.
            short_side: shorter side in pixels that the largest crop needs.
            cache: cache of decoded pictures.
            transform: applied to every picture.
        """
        self.dataset = dataset
        self.short_side = short_side
        self.indices = tuple(range(len(dataset)) if indices is None else indices)
        self._cache = cache
        self._transform = transform
        self._max_megapixels = settings().max_megapixels

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, place: int) -> tuple[Any, int | float]:
        """Return image `indices[place]` and its target. Raises ImageError if it can no longer be read."""
        index = self.indices[place]
        path = self.dataset.path(index)

        def decode() -> np.ndarray:
            return open_shrunk(path, self.short_side, max_megapixels=self._max_megapixels).pixels

        pixels = decode() if self._cache is None else self._cache.get(path, self.short_side, decode)
        return pixels if self._transform is None else self._transform(pixels), self.dataset.items[index].target
