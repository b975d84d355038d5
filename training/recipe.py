"""What a recipe states of itself: enough to train, export, measure and describe its model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import timm
from torch import nn

from training.loop import Learner, Schedule
from training.pool import SIZE, Pool, ScenePool
from vitexplorer.models.seeding import seeded
from vitexplorer.scenes import VERSION
from vitexplorer.scenes.shapes import LABEL_NAMES

Figures = dict[str, float]
"""what was measured -> number"""


@dataclass(frozen=True)
class Recipe:
    """One bundled model; its file in `recipes` is its whole story."""

    name: str
    """of its folder in assets/models"""
    architecture: str
    """a timm name"""
    model_args: Mapping[str, Any]
    """keyword arguments of `timm.create_model` that make the shipped module"""
    learner: Callable[[], Learner]
    schedule: Schedule
    num_scenes: int
    """training uses pictures 0 ... num_scenes - 1 of the stream "train\""""
    mean: float
    std: float
    """what 0-1 pixels are normalised with"""
    measure: Callable[[Recipe, Path], Figures]
    """what the card states, from the folder of the shipped weights"""
    story: str
    """for the card, Markdown: how it was trained"""
    limits: str
    """for the card, Markdown: what it can and cannot show"""
    pool: Callable[..., Pool] = ScenePool
    """(stream, count, folder=...) -> the pictures of the training"""
    data: str = f"""Scenes drawn by `vitexplorer/scenes` (version {VERSION}): one paper cut-out of one of
{len(LABEL_NAMES)} classes on a cluttered, textured ground; place, size, angle, colours, light, clutter and occlusion
are independent of the class."""
    """for the card, Markdown: what the pictures show"""
    input_size: int = SIZE
    """pixels of the shipped model's input, a side"""
    label_names: tuple[str, ...] = ()
    label_names_zh: tuple[str, ...] = ()

    def start(self, seed: int) -> Learner:
        """The learner as it is before the first step."""
        with seeded(seed):
            return self.learner()

    def untrained(self, seed: int) -> nn.Module:
        """The shipped module as timm initialises it, in eval mode: what training must be better than."""
        expected = {"input_size": (3, self.input_size, self.input_size), **self.normalisation}
        with seeded(seed):
            return timm.create_model(self.architecture, **self.model_args, pretrained_cfg_overlay=expected).eval()

    @property
    def normalisation(self) -> dict[str, tuple[float, ...]]:
        """Mean and std as timm's configuration has them."""
        return {"mean": (self.mean,) * 3, "std": (self.std,) * 3}
