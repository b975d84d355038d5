"""Fills the cache of a job: what enters a run's cut, or the pooled features for the baseline, for both sides."""

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
    """A model's features before its classifiers, for models with more than one."""

    def __init__(self, module: nn.Module):
        super().__init__()
        self.module = module

    def forward(self, images: Tensor) -> Tensor:
        """Pooled features (batch, dim)."""
        return self.module.forward_head(self.module.forward_features(images), pre_logits=True)


def kept_at(setup: Setup, tuned: TunedModel, cut: Cut, views: int, progress: Progress) -> list[np.ndarray]:
    """(views, images, ...) of the training side and (1, images, ...) of the validation side, entering the cut."""
    tuned.module.eval()
    return _kept(setup, Below(tuned.module, cut), fingerprint(tuned.module, cut), views, progress)


def features(setup: Setup, progress: Progress) -> tuple[np.ndarray, np.ndarray, float]:
    """Float32 (images, dim) of the training and the validation side, and how many seconds they took."""
    start = time.perf_counter()
    tuned = setup.attach(Candidate("linear"))
    first = setup.normalise(setup.train_pixels.image(0, PLAIN)[None])
    cut = find_cut(tuned, first.repeat(2, 1, 1, 1))
    if cut and cut.is_last:
        train, validation = kept_at(setup, tuned, cut, 1, progress)
    else:
        train, validation = _kept(setup, Pooled(tuned.module.eval()), f"pooled-{setup.base.name}", 1, progress)
    return train[0], validation[0], time.perf_counter() - start


def _kept(setup: Setup, below: nn.Module, weights: str, views: int, progress: Progress) -> list[np.ndarray]:
    plan, kept = setup.config.plan, []
    sides: Sequence[tuple[PixelFeed, tuple[int, ...], int]] = (
        (setup.train_pixels, setup.split.train, views),
        (setup.validation_pixels, setup.split.validation, 1),
    )
    for feed, indices, wanted in sides:
        prepared = (plan.augmentation, plan.seed, views) if wanted > 1 else ()
        key = hashlib.sha256(repr((weights, _files(setup, indices), setup.base.preprocessing, prepared)).encode())
        kept.append(
            setup.below_cache.get(
                key.hexdigest()[:32], setup.accelerator, below, setup.normalise, feed, wanted, progress
            )
        )
    return kept


def _files(setup: Setup, indices: Sequence[int]) -> str:
    """Digest of names, sizes and times of the images."""
    digest = hashlib.sha256()
    for index in indices:
        status: Any = os.stat(setup.dataset.path(index))
        digest.update(f"{setup.dataset.items[index].path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()
