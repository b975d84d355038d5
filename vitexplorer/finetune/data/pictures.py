"""The images of a dataset as pixels, one at a time: what torch's DataLoader takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from vitexplorer.core.settings import settings
from vitexplorer.finetune.data.cache import PictureCache
from vitexplorer.models.images import open_shrunk
from vitexplorer.storage.dataset import Dataset


class Pictures:
    """A map-style dataset for `torch.utils.data.DataLoader`: (picture, target) in the order of `indices`.

    The picture is uint8 RGB (height, width, 3), upright, its shorter side at most `short_side` pixels, its aspect
    kept; `transform` makes of it what is to be batched. The target is an int class or a float number.
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
        """Args: indices: one side of a split, or None for all images; short_side: what the largest crop needs."""
        self.dataset, self.short_side = dataset, short_side
        self.indices = tuple(range(len(dataset)) if indices is None else indices)
        self._cache, self._transform = cache, transform
        self._max_megapixels = settings().max_megapixels

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, place: int) -> tuple[Any, int | float]:
        """Image number `indices[place]` and its target. Raises ImageError where it cannot be read any more."""
        index = self.indices[place]
        path = self.dataset.path(index)

        def decode() -> np.ndarray:
            return open_shrunk(path, self.short_side, max_megapixels=self._max_megapixels).pixels

        pixels = decode() if self._cache is None else self._cache.get(path, self.short_side, decode)
        return pixels if self._transform is None else self._transform(pixels), self.dataset.items[index].target
