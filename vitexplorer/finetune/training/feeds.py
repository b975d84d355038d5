"""Sources of a run's inputs: pixels for the whole network, or cached features for its tail.

Both have the `network` from these inputs to outputs (batch, classes), and yield a tensor on the device for each batch
of positions within the training side (in an epoch) or the validation side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from vitexplorer.finetune.training.pixels import PLAIN, PixelFeed


@dataclass(frozen=True)
class LiveFeed:
    """Pixels for the whole network, augmented differently in every epoch."""

    network: nn.Module
    train_pixels: PixelFeed
    validation_pixels: PixelFeed
    normalise: Callable[[Tensor], Tensor]

    def train(self, batches: Sequence[np.ndarray], epoch: int) -> Iterator[Tensor]:
        """Yield normalised, augmented images."""
        return map(self.normalise, self.train_pixels.batches(batches, epoch))

    def validation(self, batches: Sequence[np.ndarray]) -> Iterator[Tensor]:
        """Yield normalised images after the model's own preprocessing."""
        return map(self.normalise, self.validation_pixels.batches(batches, PLAIN))


@dataclass(frozen=True)
class CachedFeed:
    """Cached features (views, images, ...) for the tail; each epoch takes the next view of each image."""

    network: nn.Module
    train_features: np.ndarray
    validation_features: np.ndarray
    device: torch.device

    def train(self, batches: Sequence[np.ndarray], epoch: int) -> Iterator[Tensor]:
        """Yield the features of the epoch's view."""
        return self._read(self.train_features[epoch % len(self.train_features)], batches)

    def validation(self, batches: Sequence[np.ndarray]) -> Iterator[Tensor]:
        """Yield the features of the plain images."""
        return self._read(self.validation_features[0], batches)

    def _read(self, features: np.ndarray, batches: Sequence[np.ndarray]) -> Iterator[Tensor]:
        for batch in batches:
            yield torch.from_numpy(np.ascontiguousarray(features[batch])).to(self.device)


Feed = LiveFeed | CachedFeed
