"""Cached features of a job for both sides: those that enter a run's cut, or pooled ones for the baseline."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor, nn

from vitexplorer.core.text import Progress
from vitexplorer.finetune.attaching import TunedModel
from vitexplorer.finetune.job.plan import Candidate
from vitexplorer.finetune.training.below_cache import fingerprint
from vitexplorer.finetune.training.cut import Below, Cut
from vitexplorer.finetune.training.cut_search import find_cut
from vitexplorer.finetune.training.pixels import PLAIN, PixelFeed
from vitexplorer.finetune.training.setup import Setup


class Pooled(nn.Module):
    """Features before the classifiers, for models with several classifiers."""

    def __init__(self, module: nn.Module):
        super().__init__()
        self.module = module

    def forward(self, images: Tensor) -> Tensor:
        """Return pooled features (batch, dim)."""
        return self.module.forward_head(self.module.forward_features(images), pre_logits=True)


def features_at(setup: Setup, tuned: TunedModel, cut: Cut, views: int, progress: Progress) -> list[np.ndarray]:
    """Return the features at the cut: (views, images, ...) for training and (1, images, ...) for validation."""
    tuned.module.eval()
    return _cached(setup, Below(tuned.module, cut), fingerprint(tuned.module, cut), views, progress)


def features(setup: Setup, progress: Progress) -> tuple[np.ndarray, np.ndarray, float]:
    """Return float32 (images, dim) features of the training and validation side, and the seconds they took."""
    start = time.perf_counter()
    tuned = setup.attach(Candidate("linear"))
    first = setup.normalise(setup.train_pixels.image(0, PLAIN)[None])
    cut = find_cut(tuned, first.repeat(2, 1, 1, 1))
    if cut and cut.is_last:
        train, validation = features_at(setup, tuned, cut, 1, progress)
    else:
        train, validation = _cached(setup, Pooled(tuned.module.eval()), f"pooled-{setup.base.name}", 1, progress)
    return train[0], validation[0], time.perf_counter() - start


def _cached(setup: Setup, below: nn.Module, weights: str, views: int, progress: Progress) -> list[np.ndarray]:
    plan = setup.config.plan
    arrays = []
    sides: Sequence[tuple[PixelFeed, tuple[int, ...], int]] = (
        (setup.train_pixels, setup.split.train, views),
        (setup.validation_pixels, setup.split.validation, 1),
    )
    for feed, indices, count in sides:
        prepared = (plan.augmentation, plan.seed, views) if count > 1 else ()
        key = hashlib.sha256(repr((weights, _files(setup, indices), setup.base.preprocessing, prepared)).encode())
        arrays.append(setup.below_cache.get(key.hexdigest()[:32], below, feed, count, progress))
    return arrays


def _files(setup: Setup, indices: Sequence[int]) -> str:
    """Hash names, sizes and modification times of the images."""
    digest = hashlib.sha256()
    for index in indices:
        status: Any = os.stat(setup.dataset.path(index))
        digest.update(f"{setup.dataset.items[index].path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()
