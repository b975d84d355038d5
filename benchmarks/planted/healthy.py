"""Odd pairs of a model and pictures that are right."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace

import cv2
import numpy as np
import torch
from torch import Tensor, nn

import vitexplorer as vx
from benchmarks.planted.case import Case, Fault, fed_right
from benchmarks.planted.training import trained
from vitexplorer.core.text import UnsupportedError


def _grey(case: Case, rng: np.random.Generator) -> Case:
    grey = (cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY) for picture in case.pictures)
    return replace(case, pictures=tuple(np.repeat(picture[..., None], 3, 2) for picture in grey))


def _small(case: Case, rng: np.random.Generator) -> Case:
    """Enlarge pictures of a third of the side."""
    side = case.pictures[0].shape[0]
    small = (cv2.resize(picture, None, fx=1 / 3, fy=1 / 3, interpolation=cv2.INTER_AREA) for picture in case.pictures)
    return replace(case, pictures=tuple(cv2.resize(picture, (side, side)) for picture in small))


def _two_classes(case: Case, rng: np.random.Generator) -> Case:
    chosen = sorted(set(case.labels), key=lambda label: -case.labels.count(label))[:2]
    return case.only([at for at, label in enumerate(case.labels) if label in chosen])


class _Normalising(nn.Module):
    """Model that normalises pixels from 0 to 1 itself."""

    def __init__(self, module: nn.Module, mean: tuple[float, ...], std: tuple[float, ...]):
        super().__init__()
        self.module = module
        self.register_buffer("mean", torch.tensor(mean).view(1, 3, 1, 1))
        self.register_buffer("std", torch.tensor(std).view(1, 3, 1, 1))

    def forward(self, images: Tensor) -> Tensor:
        return self.module((images - self.mean) / self.std)


def _mean_of_zero(case: Case, rng: np.random.Generator) -> Case | None:
    """Give the model to `wrap` with its normalisation inside; None for windows, which `wrap` does not take."""
    own = case.model.preprocessing
    module = _Normalising(copy.deepcopy(case.model.module), own.mean, own.std).eval()
    try:
        model = vx.wrap(module, mean=(0, 0, 0), std=(1, 1, 1), labels=case.model.class_names)
    except UnsupportedError:
        return None
    return replace(case, model=model)


HEALTHY: Mapping[str, Fault] = {
    "healthy": lambda case, rng: case,
    "healthy, fed as tensors": lambda case, rng: replace(case, fed=fed_right(case)),
    "healthy, grey": _grey,
    "healthy, two classes": _two_classes,
    "healthy, enlarged": _small,
    "healthy, normalises itself": _mean_of_zero,
    "healthy, trained": trained(1e-4),
}
"""Odd pairs of model and pictures that are right"""
