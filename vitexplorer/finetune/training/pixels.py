"""Batches of uint8 images of the model's size, plain or augmented.

The batches and the augmentation of each image depend only on (seed, epoch, image): a resumed run, or one with another
number of processes, sees the same pixels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from jaxtyping import UInt8
from torch import Tensor
from torch.utils.data import DataLoader
from torchvision.transforms import InterpolationMode, v2

from vitexplorer.core.settings import settings
from vitexplorer.finetune.data import Dataset, PictureCache
from vitexplorer.finetune.job.plan import Augmentation
from vitexplorer.models.images import open_shrunk
from vitexplorer.models.loading import Preprocessing
from vitexplorer.models.preprocess import MAX_ASPECT, fit_image
from vitexplorer.models.seeding import TURN, seeded

PLAIN = -1
"""Value of `epoch` for the image after the model's own preprocessing, without augmentation"""
_SMALLEST_CROP = 0.4
"""Least area share of a crop; timm's 0.08 often misses the object, which matters with few images"""
_SPARE = 1.25
"""Side of the cached pictures relative to the input's, so that crops need little enlarging"""
_JITTER = 0.3


class PixelFeed:
    """Images of one side of a split, by position."""

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
        """Prepare the images; `workers` are decoding processes, 0 decodes in this one."""
        size = preprocessing.input_size
        self._dataset = dataset
        self._indices = indices
        self._cache = cache
        self._short_side = math.ceil(max(size) * max(_SPARE, 1 / preprocessing.crop_pct))
        self._preprocessing = preprocessing
        self._seed = seed
        self._workers = workers
        self._augment = _augment(augmentation, size)

    def __len__(self) -> int:
        return len(self._indices)

    def picture(self, position: int) -> UInt8[np.ndarray, "height width 3"]:
        """Return one image upright, with its aspect ratio and not much larger than crops need.

        Raises ImageError if it can no longer be read.
        """
        path = self._dataset.path(self._indices[position])

        def decode() -> np.ndarray:
            return open_shrunk(path, self._short_side, max_megapixels=settings().max_megapixels).pixels

        return decode() if self._cache is None else self._cache.get(path, self._short_side, decode)

    def image(self, position: int, epoch: int) -> UInt8[Tensor, "channels height width"]:
        """Return one image as augmented in an epoch, or `PLAIN`."""
        pixels = self.picture(position)
        if epoch == PLAIN or self._augment is None:
            return _channels_first(_fitted(pixels, self._preprocessing))
        state = np.random.SeedSequence((self._seed, epoch, position)).generate_state(1)[0]
        with seeded(int(state)):
            return self._augment(_channels_first(pixels))

    def batches(
        self, batches: Sequence[np.ndarray], epoch: int
    ) -> Iterator[UInt8[Tensor, "batch channels height width"]]:
        """Yield the images of each batch of positions."""
        loader = DataLoader(
            _Keyed(self, epoch),
            batch_sampler=[batch.tolist() for batch in batches],
            num_workers=self._workers if len(batches) > 1 else 0,
            collate_fn=torch.stack,
            generator=torch.Generator(),  # the global generator must not advance: it decides the next dropout
        )
        with TURN:  # a worker forks from this thread and must not inherit a lock held by another
            return iter(loader)


class _Keyed(torch.utils.data.Dataset):
    """Images of one epoch as a dataset for DataLoader."""

    def __init__(self, feed: PixelFeed, epoch: int):
        self._feed, self._epoch = feed, epoch

    def __len__(self) -> int:
        return len(self._feed)

    def __getitem__(self, position: int) -> Tensor:
        return self._feed.image(position, self._epoch)


def _fitted(pixels: np.ndarray, preprocessing: Preprocessing) -> np.ndarray:
    """Fit a picture like `vx.capture` by default; squash it if it is too elongated to crop."""
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


def normaliser(preprocessing: Preprocessing, device: torch.device) -> Callable[[Tensor], Tensor]:
    """Make a function from uint8 images to normalised input on the device, like `models.preprocess.normalise`."""
    mean, std = (torch.tensor(x, device=device).view(1, -1, 1, 1) for x in (preprocessing.mean, preprocessing.std))
    return lambda images: images.to(device).float().div_(255).sub_(mean).div_(std)


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
