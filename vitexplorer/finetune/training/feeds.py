"""Where a run's inputs come from: pixels through the whole network, or what was kept at its cut through the tail."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from vitexplorer.finetune.training.pixels import PLAIN, PixelFeed


class Feed(ABC):
    """Inputs of the network that learns, by position within the training or the validation side."""

    network: nn.Module
    """from these inputs to outputs (batch, classes)"""

    @abstractmethod
    def train(self, batches: Sequence[np.ndarray], epoch: int) -> Iterator[Tensor]:
        """The inputs of each of `batches` of positions in an epoch, on the device."""

    @abstractmethod
    def validation(self, batches: Sequence[np.ndarray]) -> Iterator[Tensor]:
        """The same for the validation side."""


class LiveFeed(Feed):
    """The whole network sees augmented pixels, in every epoch others."""

    def __init__(
        self, network: nn.Module, train: PixelFeed, validation: PixelFeed, normalise: Callable[[Tensor], Tensor]
    ):
        self.network, self._train, self._validation, self._normalise = network, train, validation, normalise

    def train(self, batches: Sequence[np.ndarray], epoch: int) -> Iterator[Tensor]:
        """Normalised images."""
        return map(self._normalise, self._train.batches(batches, epoch))

    def validation(self, batches: Sequence[np.ndarray]) -> Iterator[Tensor]:
        """Normalised images, as the model's own preprocessing shows them."""
        return map(self._normalise, self._validation.batches(batches, PLAIN))


class KeptFeed(Feed):
    """The tail reads what was kept; epoch after epoch takes the next view of each image."""

    def __init__(self, network: nn.Module, train: np.ndarray, validation: np.ndarray, device: torch.device):
        """Args: train, validation: (views, images, ...) of `BelowCache.get`."""
        self.network, self._train, self._validation, self._device = network, train, validation, device

    def train(self, batches: Sequence[np.ndarray], epoch: int) -> Iterator[Tensor]:
        """What enters the cut."""
        return self._read(self._train[epoch % len(self._train)], batches)

    def validation(self, batches: Sequence[np.ndarray]) -> Iterator[Tensor]:
        """What enters the cut for the plain images."""
        return self._read(self._validation[0], batches)

    def _read(self, kept: np.ndarray, batches: Sequence[np.ndarray]) -> Iterator[Tensor]:
        for batch in batches:
            yield torch.from_numpy(np.ascontiguousarray(kept[batch])).to(self._device)
