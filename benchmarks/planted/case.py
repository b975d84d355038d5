"""Arguments of a check-up in which faults are planted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory

import numpy as np
import torch
from PIL import Image
from torch import Tensor

import vitexplorer as vx
from vitexplorer.diagnosis import Diagnosis
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.preprocess import normalise


@dataclass(frozen=True)
class Case:
    """Arguments of a check-up, and what a repair should reach."""

    model: LoadedModel
    pictures: tuple[np.ndarray, ...]
    labels: tuple[int, ...]
    fed: Tensor | None = None
    """Pictures as fed; None for the model's own way from `pictures`"""
    preprocess: Callable[[Image.Image], Tensor] | None = None
    """The owner's own preprocessing"""
    training: tuple[Mapping[str, tuple[float, float]], ...] | None = None
    """Sizes of the first updates of a training"""
    folder: TemporaryDirectory | None = None
    """Folder of the pictures, removed with the case"""

    def only(self, rows: Sequence[int]) -> Case:
        """Select pictures and their labels, in this order; one may come twice."""
        pictures, labels = (tuple(entries[at] for at in rows) for entries in (self.pictures, self.labels))
        return replace(self, pictures=pictures, labels=labels)

    def check_up(self, seconds: float) -> Diagnosis:
        """Run the check-up."""
        rest = {"preprocess": self.preprocess, "training": self.training, "seconds": seconds}
        if self.folder is not None:
            return vx.diagnose(self.model, self.folder.name, **rest)
        data = list(self.pictures) if self.fed is None else self.fed
        return vx.diagnose(self.model, data, list(self.labels), **rest)


Fault = Callable[[Case, np.random.Generator], Case | None]
"""Plants a fault; None where a model has no place for it"""


def fed_right(case: Case) -> Tensor:
    """Return the pictures as the model wants them; they have its input size."""
    own = case.model.preprocessing
    return torch.cat([normalise(picture, own.mean, own.std) for picture in case.pictures])
