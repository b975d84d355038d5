"""What a job leaves behind, as frozen records: the baseline, the estimate before, every epoch, the result after.

No torch here: the page and the leaderboard read these without loading it. A tuned model is loaded when it is asked
for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from vitexplorer.core.format import counted, fine_percent, measured
from vitexplorer.core.notebook_display import NotebookDisplay
from vitexplorer.core.summaries import Summarised, Summary, described
from vitexplorer.core.text import Text
from vitexplorer.finetune.results.metrics import METRIC, PerClass, confusion, metric_text, per_class
from vitexplorer.storage.checked_reading import Amount, Count
from vitexplorer.storage.dataset import Task

if TYPE_CHECKING:
    from vitexplorer.finetune.attaching import TunedModel


@dataclass(frozen=True)
class Estimate:
    """What a run will need, from two batches, before anything is trained."""

    run: str
    """key of the candidate"""
    total: Count
    """parameters"""
    trainable: Count
    """those that train, the head included"""
    head: Count
    steps: Count
    """optimiser steps of the whole run"""
    seconds_per_step: Amount
    seconds: Amount
    """of the whole run: what runs once, all steps, all validations"""
    memory_bytes: Count
    """parameters, gradients, the optimiser's averages and what one batch keeps for the backward pass"""
    cache_bytes: Count
    """of what is computed once for each image; 0 where the whole network runs in every step"""
    precision: Literal["no", "bf16"]
    """no: float32"""
    text: Text
    """where training begins and what that means for augmentation"""

    @property
    def is_cached(self) -> bool:
        """Whether the frozen part runs once only."""
        return self.cache_bytes > 0


@dataclass(frozen=True)
class LearningCurve:
    """The baseline's metric on the whole validation set for growing parts of the training images."""

    images: tuple[int, ...]
    values: tuple[float, ...]

    def __post_init__(self):
        if len(self.images) != len(self.values):
            raise ValueError("values")


@dataclass(frozen=True)
class Baseline:
    """Logistic or ridge regression on the frozen features: what every method must beat."""

    metric: str
    metrics: Mapping[str, float]
    constant: float
    """the metric of the best answer that looks at no image: the commonest class, or the mean"""
    strength: float
    """C of the logistic or alpha of the ridge regression, chosen by cross-validation on the training side"""
    learning_curve: LearningCurve
    seconds: float
    """of the regression; the features come before it"""
    feature_seconds: float

    def __post_init__(self):
        if self.metric not in METRIC.values() or self.metric not in self.metrics:
            raise ValueError("metric")

    @property
    def value(self) -> float:
        """The metric."""
        return self.metrics[self.metric]


@dataclass(frozen=True)
class Epoch:
    """One pass over the training images and the validation after it."""

    epoch: Count
    """counted from 1"""
    train_loss: float
    """mean over the epoch, as it was while it learned"""
    metrics: Mapping[str, float]
    """of the validation set: loss, and what `metrics.scores` gives"""
    learning_rate: float
    """of the body, at the end of the epoch"""
    seconds: Amount
    """since the run began, pauses not counted"""


@dataclass(frozen=True, eq=False, kw_only=True)
class RunRecord:
    """How one method went, as its run writes it down at its end."""

    method: str
    settings: Mapping[str, Any]
    epochs: tuple[Epoch, ...]
    best: Count
    """place in `epochs` of the epoch that was kept: the best metric, then the lowest loss"""
    seconds: Amount
    """of training, with what was computed once; pauses are not counted"""
    total: Count
    """parameters"""
    trainable: Count
    """the head's included"""
    head: Count
    file_bytes: Count
    """of the tuned model's file"""
    stopped: bool = False
    """whether it was stopped before its last epoch; what is kept is the best until then"""
    notes: tuple[Text, ...] = ()

    def __post_init__(self):
        if not self.best < len(self.epochs):
            raise ValueError("best")
        names = {"loss", *self.epochs[0].metrics}
        if any(epoch.metrics.keys() != names for epoch in self.epochs) or not names & set(METRIC.values()):
            raise ValueError("metrics")
        if not self.head <= self.trainable <= self.total > 0:
            raise ValueError("total")


@dataclass(frozen=True, eq=False, kw_only=True)
class FinetuneResult(RunRecord, Summarised, NotebookDisplay):
    """One method on one split: how it went, what it says of each validation image, and the model."""

    run: str
    """key of the run in its job"""
    base: tuple[str, str, int]
    """name, weights and seed of the model it was made from, as `load_backbone` takes them"""
    task: Task
    metric: str
    """accuracy or rmse"""
    classes: tuple[str, ...]
    """empty for regression"""
    paths: tuple[str, ...]
    """of the validation images, relative to the data folder"""
    targets: np.ndarray
    """(images,) int classes or float numbers of the validation set"""
    outputs: np.ndarray
    """of the kept model: probabilities (images, classes), or numbers (images,)"""
    file: Path
    """what was trained, as `load_tuned` reads it"""
    baseline: Baseline | None = None
    """of the same split"""

    def _summary(self) -> Summary:
        name, weights, seed = self.base
        base = f"RANDOM weights (seed {seed})" if weights == "random" else f'weights="{weights}"'
        settings = f" ({described(self.settings)})" if self.settings else ""
        value, share = metric_text(self.metric, self.value), fine_percent(self.trainable / self.total)
        best, stopped = self.epochs[self.best].epoch, ", stopped early" if self.stopped else ""
        return Summary(
            f"{self.method}{settings} on {name}, {base}",
            (
                (self.metric, f"{value} on {counted(len(self.paths))} validation images"),
                ("baseline", self.baseline and metric_text(self.metric, self.baseline.value)),
                ("trained", f"{counted(self.trainable)} of {counted(self.total)} parameters ({share})"),
                ("epochs", f"{len(self.epochs)} in {measured(self.seconds)} s{stopped}, the best is number {best}"),
                ("classes", self.classes),
                ("file", self.file),
                ("notes", self.notes),
            ),
            "run.model is the tuned model; run.metrics, run.per_class, run.confusion, run.wrong say how good it is",
        )

    @property
    def value(self) -> float:
        """The metric of the kept epoch."""
        return self.metrics[self.metric]

    @property
    def metrics(self) -> Mapping[str, float]:
        """All figures of the kept epoch."""
        return self.epochs[self.best].metrics

    @cached_property
    def model(self) -> TunedModel:
        """The tuned model, a model like any other. Raises what `load_backbone` and `load_tuned` raise."""
        from vitexplorer.finetune.storing import load_tuned
        from vitexplorer.models.loading import load_backbone

        name, weights, seed = self.base
        return load_tuned(self.file, load_backbone(name, weights, seed=seed))

    @property
    def confusion(self) -> np.ndarray | None:
        """Int (classes, classes): how often each true class (rows) was taken for each; None for regression."""
        return confusion(self.outputs, self.targets) if self.classes else None

    @property
    def per_class(self) -> PerClass | None:
        """Precision, recall and F1 of each class; None for regression."""
        return per_class(self.outputs, self.targets, self.classes) if self.classes else None

    @property
    def residuals(self) -> np.ndarray | None:
        """(images,) predicted minus true number; None for classes."""
        return None if self.classes else self.outputs - self.targets

    @property
    def wrong(self) -> tuple[int, ...]:
        """Validation images from the worst on: misread, the surest first; for numbers all, by their error."""
        if not self.classes:
            return tuple(np.argsort(-np.abs(self.outputs - self.targets), kind="stable").tolist())
        predicted = self.outputs.argmax(1)
        surest = np.argsort(-self.outputs.max(1), kind="stable")
        return tuple(int(i) for i in surest if predicted[i] != self.targets[i])

    @property
    def learning_curve(self) -> LearningCurve | None:
        """Would more images help? The baseline's curve, on this split; None where it was not made."""
        return self.baseline.learning_curve if self.baseline else None
