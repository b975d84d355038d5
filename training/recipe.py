"""Record of a recipe: everything to train, export, measure and describe its model."""

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
from vitexplorer.models.texts.captioner import CaptionerConfig
from vitexplorer.models.texts.word_tower import WordTowerConfig
from vitexplorer.scenes import VERSION
from vitexplorer.scenes.shapes import LABEL_NAMES

Figures = dict[str, float]
"""Numbers by the name of the measurement"""
MEAN, STD = 0.5, 0.25
"""Mean and standard deviation that normalise pixels in 0-1, for every recipe"""
NORMALISATION = {"mean": (MEAN,) * 3, "std": (STD,) * 3}
"""The same in the form of timm's configuration"""


@dataclass(frozen=True)
class Recipe:
    """Recipe of one bundled model, complete in its file in `recipes`."""

    name: str
    """Name of its folder in assets/models"""
    architecture: str
    """Name of the timm architecture"""
    model_args: Mapping[str, Any]
    """Keyword arguments of `timm.create_model` that make the shipped module"""
    learner: Callable[[], Learner]
    schedule: Schedule
    num_scenes: int
    """Training uses pictures 0 ... num_scenes - 1 of the stream "train\""""
    measure: Callable[[Recipe, Path], Figures]
    """Measures the card's figures from the folder of the shipped weights"""
    story: str
    """Section of the card on the training, Markdown"""
    limits: str
    """Section of the card on uses and limits, Markdown"""
    pool: Callable[..., Pool] = ScenePool
    """Function (stream, count, folder=...) -> training pictures"""
    data: str = f"""Scenes drawn by `vitexplorer/scenes` (version {VERSION}): one paper cut-out of one of
{len(LABEL_NAMES)} classes on a cluttered, textured ground; place, size, angle, colours, light, clutter and occlusion
are independent of the class."""
    """Section of the card on the pictures, Markdown"""
    input_size: int = SIZE
    """Side of the shipped model's input in pixels"""
    label_names: tuple[str, ...] = ()
    label_names_zh: tuple[str, ...] = ()
    text: WordTowerConfig | None = None
    """Sizes and words of the text tower, of a model that has one"""
    captioner: CaptionerConfig | None = None
    """Sizes and words of the captioner, of a model that has one"""

    def start(self, seed: int) -> Learner:
        """Make the learner before its first step."""
        with seeded(seed):
            return self.learner()

    def untrained(self, seed: int) -> nn.Module:
        """Make the shipped module as timm initialises it, in eval mode, for comparison."""
        expected = {"input_size": (3, self.input_size, self.input_size), **NORMALISATION}
        with seeded(seed):
            return timm.create_model(self.architecture, **self.model_args, pretrained_cfg_overlay=expected).eval()
