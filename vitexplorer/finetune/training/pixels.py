"""From the pictures of a dataset to batches of uint8 images of the model's size, plain or augmented.

Which images are in a step's batch and how each of them is augmented are functions of (seed, epoch, image) alone: a
resumed run, and a run on another number of processes, see the same pixels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from jaxtyping import UInt8
from torch import Tensor
from torch.utils.data import DataLoader
from torchvision.transforms import InterpolationMode, v2

from vitexplorer.finetune.data import Dataset, PictureCache, Pictures
from vitexplorer.finetune.job.plan import Augmentation
from vitexplorer.models.loading import Preprocessing
from vitexplorer.models.preprocess import MAX_ASPECT, fit_image
from vitexplorer.models.seeding import TURN, seeded

PLAIN = -1
"""in place of an epoch: the picture as the model's own preprocessing shows it"""
_SMALLEST_CROP = 0.4
"""share of the area; timm's 0.08 leaves nothing of an object where images are few"""
_SPARE = 1.25
"""kept pixels, in times the input's side, so that a crop need not be enlarged much"""
_JITTER = 0.3


class PixelFeed:
    """The images of one side of a split, by their position in it."""

    def __init__(
        self,
        dataset: Dataset,
        indices: Sequence[int],
        preprocessing: Preprocessing,
        augmentation: Augmentation,
        seed: int,
        cache: PictureCache | None = None,
        workers: int = 0,
    ):
        """Args: cache: shrunk pictures; workers: processes that decode, 0: this one."""
        size = preprocessing.input_size
        short_side = math.ceil(max(size) * max(_SPARE, 1 / preprocessing.crop_pct))
        self._pictures = Pictures(dataset, indices, short_side=short_side, cache=cache)
        self._preprocessing, self._seed, self._workers = preprocessing, seed, workers
        self._augment = _augment(augmentation, size)

    def __len__(self) -> int:
        return len(self._pictures)

    def image(self, position: int, epoch: int) -> UInt8[Tensor, "channels height width"]:
        """One image as it is in an epoch, or `PLAIN`."""
        pixels, _ = self._pictures[position]
        if epoch == PLAIN or self._augment is None:
            return _channels_first(_fitted(pixels, self._preprocessing))
        state = np.random.SeedSequence((self._seed, epoch, position)).generate_state(1)[0]
        with seeded(int(state)):
            return self._augment(_channels_first(pixels))

    def batches(
        self, batches: Sequence[np.ndarray], epoch: int
    ) -> Iterator[UInt8[Tensor, "batch channels height width"]]:
        """The images at each of `batches` of positions, one after the other."""
        loader = DataLoader(
            _Keyed(self, epoch),
            batch_sampler=[batch.tolist() for batch in batches],
            num_workers=self._workers if len(batches) > 1 else 0,
            collate_fn=torch.stack,
            generator=torch.Generator(),  # of its own: the global one's next number decides the next dropout
        )
        with TURN:  # a worker is a copy of this thread, which must not find the turn taken by another
            return iter(loader)


class _Keyed(torch.utils.data.Dataset):
    """The images of one epoch, as a DataLoader asks for them."""

    def __init__(self, feed: PixelFeed, epoch: int):
        self._feed, self._epoch = feed, epoch

    def __len__(self) -> int:
        return len(self._feed)

    def __getitem__(self, position: int) -> Tensor:
        return self._feed.image(position, self._epoch)


def _fitted(pixels: np.ndarray, preprocessing: Preprocessing) -> np.ndarray:
    """As `vx.capture` fits a picture by default, squashed where its shape leaves no other way."""
    elongated = max(pixels.shape[:2]) > MAX_ASPECT * min(pixels.shape[:2])
    fitted = fit_image(
        pixels,
        input_size=preprocessing.input_size,
        fit="squash" if elongated else "crop",
        interpolation=preprocessing.interpolation,
        crop_pct=preprocessing.crop_pct,
        crop_mode=preprocessing.crop_mode,
        mean=preprocessing.mean,
    )
    return fitted.pixels


def _channels_first(pixels: np.ndarray) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(pixels)).permute(2, 0, 1)


def _augment(augmentation: Augmentation, size: tuple[int, int]) -> v2.Transform | None:
    if augmentation == "none":
        return None
    steps = [
        v2.RandomResizedCrop(size, (_SMALLEST_CROP, 1.0), interpolation=InterpolationMode.BICUBIC, antialias=True),
        v2.RandomHorizontalFlip(),
    ]
    if augmentation == "crop_flip_colour":
        steps.append(v2.ColorJitter(brightness=_JITTER, contrast=_JITTER, saturation=_JITTER))
    return v2.Compose(steps)
