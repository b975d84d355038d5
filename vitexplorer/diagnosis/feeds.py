"""Ways to feed a picture: undo what was done to the pixels of a tensor, and do it as the model wants.

A tensor as fed is (pixels - mean) / std of pixels from 0 to 1, for some mean and std: pixels from 0 to 255 are those of
std 1/255, pixels divided by 255 twice of std 255, and so on. Which pairs are possible is read from the tensor: pixels
that they give must lie between 0 and 1 and fill that range, and where pictures were resized as bytes they are multiples
of 1/255.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from vitexplorer.diagnosis.answers import Batch

Three = tuple[float, float, float]


class Scaling(NamedTuple):
    """Mean and standard deviation of each channel, of pixels from 0 to 1."""

    mean: Three
    std: Three

    @property
    def key(self) -> tuple[float, ...]:
        """The numbers, rounded, to compare scalings."""
        return tuple(float(f"{number:.4g}") for number in (*self.mean, *self.std))


UNIT = Scaling((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
STATED: Mapping[str, Scaling] = {
    "ImageNet": Scaling((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    "0.5": Scaling((0.5, 0.5, 0.5), (0.5, 0.5, 0.5)),
    "CLIP": Scaling((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)),
    "0-1": UNIT,
}
"""Scalings that published models use"""


class Encoding(NamedTuple):
    """Scaling that a tensor may have, with the cause that it would be."""

    scaling: Scaling
    cause: str


TURNS: Mapping[str, tuple[str, Callable[[Batch], Batch]]] = {
    "90": ("rotated", lambda batch: batch.rot90(1, (2, 3))),
    "180": ("rotated", lambda batch: batch.rot90(2, (2, 3))),
    "270": ("rotated", lambda batch: batch.rot90(3, (2, 3))),
    "transposed": ("axes_swapped", lambda batch: batch.transpose(2, 3)),
    "other diagonal": ("axes_swapped", lambda batch: batch.rot90(2, (2, 3)).transpose(2, 3)),
    "left-right": ("flipped", lambda batch: batch.flip(3)),
    "upside down": ("flipped", lambda batch: batch.flip(2)),
    "channels last": ("axes_swapped", lambda batch: _channels_first(batch)),
}
"""Cause that each change of the axes mends, and the change"""


class Feed(NamedTuple):
    """Change of a tensor as fed; called with a batch (n, 3, height, width), returns one."""

    read_as: Scaling | None = None
    """Scaling that the tensor has; None to leave the numbers as they are"""
    give_as: Scaling | None = None
    swap: bool = False
    """True to turn the order of the channels round"""
    turn: str = ""
    """A key of `TURNS`"""

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch as the model would get it."""
        scaled = self.read_as is not None and self.give_as is not None
        if scaled:
            batch = batch * _column(self.read_as.std, batch) + _column(self.read_as.mean, batch)
        if self.swap:
            batch = batch.flip(1)
        if self.turn:
            batch = TURNS[self.turn][1](batch)
        if scaled:
            batch = (batch - _column(self.give_as.mean, batch)) / _column(self.give_as.std, batch)
        return batch.contiguous()


AS_FED = Feed()


def _column(numbers: Three, batch: Batch) -> Tensor:
    return torch.tensor(numbers, dtype=batch.dtype, device=batch.device).view(3, 1, 1)


def _channels_first(batch: Batch) -> Batch:
    """Undo a reshape of (height, width, 3) to (3, height, width) that should have been a transpose."""
    count, channels, height, width = batch.shape
    return batch.reshape(count, height, width, channels).permute(0, 3, 1, 2)


def possible_encodings(fed: Batch, own: Scaling) -> list[Encoding]:
    """List the scalings that the tensors may have, those of whole byte values alone where there are any."""
    sample = _sample(fed)
    known = (own, *STATED.values())
    every = [Encoding(scaling, "wrong_normalisation") for scaling in known]
    every += [Encoding(_scaled(scaling, 1 / 255), "not_scaled") for scaling in known]
    every += [Encoding(_scaled(scaling, 255), "scaled_twice") for scaling in known]
    every += [Encoding(_applied_twice(scaling), "wrong_normalisation") for scaling in known]
    different = list({encoding.scaling.key: encoding for encoding in reversed(every)}.values())[::-1]
    fits = [
        (encoding, _whole_share(sample, encoding.scaling))
        for encoding in different
        if _may_be(sample, encoding.scaling)
    ]
    exact = [encoding for encoding, share in fits if share > 0.99]
    if exact:
        return exact
    measured = _measured(sample)
    return [Encoding(measured, _cause(measured))] if measured else [encoding for encoding, _ in fits]


def _scaled(scaling: Scaling, by: float) -> Scaling:
    return Scaling(*(tuple(by * number for number in numbers) for numbers in scaling))


def _applied_twice(scaling: Scaling) -> Scaling:
    mean = tuple(m + m * s for m, s in zip(*scaling, strict=True))
    return Scaling(mean, tuple(s * s for s in scaling.std))


def _sample(fed: Batch) -> np.ndarray:
    """Return values of each channel from all over the pictures, float64 (3, values)."""
    values = fed.transpose(0, 1).reshape(3, -1)
    step = max(1, values.shape[1] // 40_000)
    return values[:, ::step].double().numpy()


def _pixels(sample: np.ndarray, scaling: Scaling) -> np.ndarray:
    return sample * np.array(scaling.std)[:, None] + np.array(scaling.mean)[:, None]


def _may_be(sample: np.ndarray, scaling: Scaling) -> bool:
    """Return True if the pixels would lie between 0 and 1, and fill a good part of that range."""
    pixels = _pixels(sample, scaling)
    low, high = np.quantile(pixels, [0.001, 0.999])
    return bool(low > -0.02 and high < 1.02 and high - low > 0.15)


def _whole_share(sample: np.ndarray, scaling: Scaling) -> float:
    """Compute the share of pixels that are multiples of 1/255, of those that a guess would not make so."""
    levels = 255 * _pixels(sample, scaling)
    return float((np.abs(levels - levels.round()) < 0.02).mean())


def _measured(sample: np.ndarray) -> Scaling | None:
    """Read the scaling from the steps between values; None where they are not those of bytes."""
    mean, std = [], []
    for values in sample:
        levels = np.unique(values.round(7))
        gaps = np.diff(levels)
        gaps = gaps[gaps > 1e-3 * np.ptp(levels)] if len(gaps) else gaps
        if len(levels) > 600 or len(gaps) < 20:
            return None
        step = np.median(gaps[gaps < 1.5 * gaps.min()])
        places = (levels - levels[0]) / step
        if np.abs(places - places.round()).max() > 0.1 or places[-1] > 255.5:
            return None
        std.append(1 / (255 * step))
        mean.append(-levels[0] / (255 * step))
    return Scaling(tuple(mean), tuple(std))


def _cause(scaling: Scaling) -> str:
    """Return the cause that a measured scaling would be."""
    spread = float(np.mean(scaling.std))
    return "not_scaled" if spread < 0.02 else "scaled_twice" if spread > 20 else "wrong_normalisation"
