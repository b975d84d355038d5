"""Sources of a run's inputs: pixels for the whole network, or cached features for its tail."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from vitexplorer.finetune.training.pixels import PLAIN, PixelFeed


class Feed(ABC):
    """Inputs of the training network, by position within the training or validation side."""

    network: nn.Module
    """Network from these inputs to outputs (batch, classes)"""

    @abstractmethod
    def train(self, batches: Sequence[np.ndarray], epoch: int) -> Iterator[Tensor]:
        """Yield the inputs for each batch of positions in an epoch, on the device."""

    @abstractmethod
    def validation(self, batches: Sequence[np.ndarray]) -> Iterator[Tensor]:
        """Yield the inputs for each batch of validation positions, on the device."""


class LiveFeed(Feed):
    """Pixels for the whole network, augmented differently in every epoch."""

    def __init__(
        self, network: nn.Module, train: PixelFeed, validation: PixelFeed, normalise: Callable[[Tensor], Tensor]
    ):
        self.network = network
        self._train = train
        self._validation = validation
        self._normalise = normalise

    def train(self, batches: Sequence[np.ndarray], epoch: int) -> Iterator[Tensor]:
        """Yield normalised, augmented images."""
        return map(self._normalise, self._train.batches(batches, epoch))

    def validation(self, batches: Sequence[np.ndarray]) -> Iterator[Tensor]:
        """Yield normalised images after the model's own preprocessing."""
        return map(self._normalise, self._validation.batches(batches, PLAIN))


class CachedFeed(Feed):
    """Cached features for the tail; each epoch takes the next view of each image."""

    def __init__(self, network: nn.Module, train: np.ndarray, validation: np.ndarray, device: torch.device):
        """Serve the arrays `train` and `validation` of `BelowCache.get`, (views, images, ...)."""
        self.network = network
        self._train = train
        self._validation = validation
        self._device = device

    def train(self, batches: Sequence[np.ndarray], epoch: int) -> Iterator[Tensor]:
        """Yield the features of the epoch's view."""
        return self._read(self._train[epoch % len(self._train)], batches)

    def validation(self, batches: Sequence[np.ndarray]) -> Iterator[Tensor]:
        """Yield the features of the plain images."""
        return self._read(self._validation[0], batches)

    def _read(self, features: np.ndarray, batches: Sequence[np.ndarray]) -> Iterator[Tensor]:
        for batch in batches:
            yield torch.from_numpy(np.ascontiguousarray(features[batch])).to(self._device)
