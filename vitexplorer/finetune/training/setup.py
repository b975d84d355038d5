"""State shared by all runs of a job: images and their split, base model, objective, accelerator."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from accelerate import Accelerator
from torch import Tensor

from vitexplorer.core.settings import settings
from vitexplorer.finetune.attaching import TunedModel, attach
from vitexplorer.finetune.data import Dataset, PictureCache, Split
from vitexplorer.finetune.job.folder import BASELINE_HEAD
from vitexplorer.finetune.job.plan import Candidate, JobConfig
from vitexplorer.finetune.parts.heads import begin_with
from vitexplorer.finetune.training.below_cache import BelowCache
from vitexplorer.finetune.training.objective import Objective, objective_for
from vitexplorer.finetune.training.pixels import PixelFeed, normaliser
from vitexplorer.models.loading import LoadedModel, load_backbone
from vitexplorer.storage.checked_reading import read_arrays

HEAD_PARTS = ("weight", "bias", "centre", "spread")
_BATCH_ON_ACCELERATOR, _BATCH_ON_PROCESSOR = 64, 16
_MOST_WORKERS = 8


@dataclass(frozen=True)
class Setup:
    """Everything about a job that does not depend on the method."""

    config: JobConfig
    folder: Path
    dataset: Dataset
    split: Split
    base: LoadedModel
    accelerator: Accelerator

    @property
    def device(self) -> torch.device:
        """Device of this process."""
        return self.accelerator.device

    @property
    def batch_size(self) -> int:
        """Images of one optimiser step, over all processes."""
        usual = _BATCH_ON_PROCESSOR if self.device.type == "cpu" else _BATCH_ON_ACCELERATOR
        return self.config.plan.batch_size or usual

    @property
    def num_outputs(self) -> int:
        """Outputs of the network: the number of classes, or 1."""
        return len(self.dataset.classes) or 1

    @cached_property
    def objective(self) -> Objective:
        """Objective for the targets of the training side."""
        return objective_for(self.dataset.task, self.num_outputs, self.train_targets, self.config.plan)

    @cached_property
    def train_targets(self) -> np.ndarray:
        """Training targets, (images,)."""
        return self.dataset.targets[list(self.split.train)]

    @cached_property
    def validation_targets(self) -> np.ndarray:
        """Validation targets, (images,)."""
        return self.dataset.targets[list(self.split.validation)]

    @cached_property
    def train_pixels(self) -> PixelFeed:
        """Images of the training side."""
        return self._pixels(self.split.train)

    @cached_property
    def validation_pixels(self) -> PixelFeed:
        """Images of the validation side, meant for `PLAIN`."""
        return self._pixels(self.split.validation)

    def _pixels(self, indices: tuple[int, ...]) -> PixelFeed:
        return PixelFeed(
            self.dataset,
            indices,
            self.base.preprocessing,
            self.config.plan.augmentation,
            self.config.plan.seed,
            PictureCache(self.folder / "cache" / "pictures", settings().data_cache_megabytes),
            workers=0 if self.device.type == "cpu" else min(_MOST_WORKERS, (os.cpu_count() or 2) - 1),
        )

    @cached_property
    def below_cache(self) -> BelowCache:
        """Cache of the frozen features."""
        folder = self.folder / "cache" / "below"
        return BelowCache(folder, settings().feature_cache_megabytes, self.accelerator, self.normalise)

    @cached_property
    def normalise(self) -> Callable[[Tensor], Tensor]:
        """Function from uint8 images to normalised input on the device."""
        return normaliser(self.base.preprocessing, self.device)

    def attach(self, candidate: Candidate) -> TunedModel:
        """Attach the candidate's method to a private copy of the base. Raises the errors of `finetune.attach`."""
        return attach(
            self.base,
            candidate.method,
            self.num_outputs,
            class_names=self.dataset.classes or (self.dataset.target_name,),
            seed=self.config.plan.seed,
            **candidate.settings,
        )

    def begin(self, candidate: Candidate) -> tuple[TunedModel, bool]:
        """Attach the candidate with the head that the plan specifies; return True with it if that is the baseline's.

        The head stays fresh if the method replaces it by several layers.
        """
        tuned = self.attach(candidate)
        path = self.folder / BASELINE_HEAD
        if self.config.plan.head == "fresh" or not path.exists():
            return tuned, False
        saved = read_arrays(path, HEAD_PARTS)
        numbers = [torch.as_tensor(saved[name], dtype=torch.float32) for name in HEAD_PARTS]
        weight, bias, centre, spread = (part.to(self.device) for part in numbers)
        weight, bias = self.objective.outputs_of(weight, bias)
        return tuned, begin_with(tuned.module, weight, bias, centre, spread)

    def recipe(self, candidate: Candidate) -> dict[str, object]:
        """Return the recipe for the tuned model's file: training settings and meaning of the outputs."""
        return {
            "plan": asdict(self.config.plan),
            "learning_rate": candidate.learning_rate,
            "batch_size": self.batch_size,
            "images": len(self.split.train),
            "objective": {name: value for name, value in vars(self.objective).items() if name != "class_weights"},
        }


def make_accelerator() -> Accelerator:
    """Make an accelerator for the processes of `accelerate launch` or this one, on a GPU if there is one."""
    return Accelerator(cpu=not torch.cuda.is_available())


def load_base(config: JobConfig, device: torch.device) -> LoadedModel:
    """Load the base model of a job. Raises UnknownNameError, WeightsError or DownloadError."""
    return load_backbone(config.model, config.weights, seed=config.weights_seed, device=device)
