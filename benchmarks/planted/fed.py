"""Faults in the pictures as they are fed to a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from benchmarks.planted.case import Case, Fault, fed_right
from vitexplorer.models.preprocess import normalise


def _turned(change: Callable[[Tensor], Tensor]) -> Fault:
    return lambda case, rng: replace(case, fed=change(fed_right(case)).contiguous())


def _scaled(mean: float, std: float) -> Fault:
    """Normalise pixels, 0-1, by another mean and standard deviation."""

    def plant(case: Case, rng: np.random.Generator) -> Case:
        return replace(case, fed=torch.cat([normalise(picture, (mean,) * 3, (std,) * 3) for picture in case.pictures]))

    return plant


def _channels_last(batch: Tensor) -> Tensor:
    return batch.permute(0, 2, 3, 1).reshape(batch.shape)


def _cropped(share: float) -> Fault:
    """Cut the middle of each picture and enlarge it, as a preprocessing of the owner's own."""

    def plant(case: Case, rng: np.random.Generator) -> Case:
        own = case.model.preprocessing

        def preprocess(picture: Image.Image) -> Tensor:
            edges = [side * (1 - share) / 2 for side in (picture.width, picture.height)]
            box = (*edges, picture.width - edges[0], picture.height - edges[1])
            cut = picture.convert("RGB").resize(own.input_size[::-1], Image.Resampling.BICUBIC, box)
            return normalise(np.asarray(cut), own.mean, own.std)[0]

        return replace(case, preprocess=preprocess)

    return plant


FED: Mapping[str, tuple[Fault, ...]] = {
    "wrong_normalisation": (_scaled(0.0, 1.0), _scaled(0.9, 0.1)),
    "not_scaled": (_scaled(0.0, 1 / 255),),
    "scaled_twice": (_scaled(0.0, 255.0),),
    "channels_swapped": (_turned(lambda batch: batch.flip(1)),),
    "axes_swapped": (_turned(_channels_last), _turned(lambda batch: batch.transpose(2, 3))),
    "rotated": (_turned(lambda batch: batch.rot90(1, (2, 3))), _turned(lambda batch: batch.rot90(3, (2, 3)))),
    "flipped": (_turned(lambda batch: batch.flip(2)),),
    "wrong_size_or_crop": (_cropped(0.6), _cropped(0.4)),
}
"""Ways to plant each cause, mild before gross"""
