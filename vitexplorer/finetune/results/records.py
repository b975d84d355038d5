"""Frozen records of a job: baseline, estimate, epochs and result.

No torch here: the page and the leaderboard read these without loading it. A tuned model is loaded on first use.
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
from vitexplorer.finetune.results.interval import metric_interval
from vitexplorer.finetune.results.metrics import METRIC, PerClass, confusion, metric_text, per_class
from vitexplorer.storage.checked_reading import Amount, Count
from vitexplorer.storage.dataset import Task

if TYPE_CHECKING:
    from vitexplorer.finetune.attaching import TunedModel


@dataclass(frozen=True)
class Estimate:
    """Estimated cost of a run, from two batches, before training."""

    run: str
    """Key of the candidate"""
    total: Count
    """All parameters"""
    trainable: Count
    """Trained parameters, the head's included"""
    head: Count
    steps: Count
    """Optimiser steps of the whole run"""
    seconds_per_step: Amount
    seconds: Amount
    """Seconds of the whole run: cached features, all steps, all validations"""
    memory_bytes: Count
    """Bytes of parameters, gradients, optimiser averages and one batch's tensors saved for the backward pass"""
    cache_bytes: Count
    """Bytes of the features cached for each image; 0 if the whole network runs in every step"""
    precision: Literal["no", "bf16"]
    """Precision; "no" is float32"""
    text: Text
    """Explanation of where training begins and how images are augmented"""


@dataclass(frozen=True)
class LearningCurve:
    """Baseline's metric on the whole validation set for growing subsets of the training images."""

    images: tuple[int, ...]
    values: tuple[float, ...]

    def __post_init__(self):
        if len(self.images) != len(self.values):
            raise ValueError("values")


@dataclass(frozen=True)
class Baseline:
    """Logistic or ridge regression on the frozen features, which every method must beat."""

    metric: str
    metrics: Mapping[str, float]
    constant: float
    """Metric of the best prediction without images: the commonest class, or the mean"""
    strength: float
    """C of the logistic or alpha of the ridge regression, chosen by cross-validation on the training side"""
    learning_curve: LearningCurve
    seconds: float
    """Seconds of the regression, without the features"""
    feature_seconds: float

    def __post_init__(self):
        if self.metric not in METRIC.values() or self.metric not in self.metrics:
            raise ValueError("metric")

    @property
    def value(self) -> float:
        """Value of the metric."""
        return self.metrics[self.metric]


@dataclass(frozen=True)
class Epoch:
    """One pass over the training images and the validation after it."""

    epoch: Count
    """Number of the epoch, counted from 1"""
    train_loss: float
    """Mean training loss during the epoch"""
    metrics: Mapping[str, float]
    """Metrics of the validation set: loss, and those of `metrics.scores`"""
    learning_rate: float
    """Largest learning rate of the groups at the end of the epoch"""
    seconds: Amount
    """Seconds since the run began, without pauses"""


@dataclass(frozen=True, eq=False, kw_only=True)
class RunRecord:
    """Record of one finished run."""

    method: str
    settings: Mapping[str, Any]
    epochs: tuple[Epoch, ...]
    best: Count
    """Index in `epochs` of the best epoch: best metric, then lowest loss"""
    seconds: Amount
    """Seconds of training, cached features included, without pauses"""
    total: Count
    """All parameters"""
    trainable: Count
    """Trained parameters, the head's included"""
    head: Count
    file_bytes: Count
    """Bytes of the tuned model's file"""
    stopped: bool = False
    """True if the run was stopped before its last epoch; the best epoch until then is the result"""
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
    """Result of one method on one split: its record, its outputs for the validation images, and the model."""

    run: str
    """Key of the run in its job"""
    base: tuple[str, str, int]
    """Name, weights and seed of the base model, as for `load_backbone`"""
    task: Task
    metric: str
    """Name of the metric, accuracy or rmse"""
    classes: tuple[str, ...]
    """Class names; empty for regression"""
    paths: tuple[str, ...]
    """Paths of the validation images, relative to the data folder"""
    targets: np.ndarray
    """Targets of the validation set, (images,): int classes or float numbers"""
    outputs: np.ndarray
    """Outputs of the best epoch: probabilities (images, classes) or numbers (images,)"""
    file: Path
    """Tuned model's file, for `load_tuned`"""
    baseline: Baseline | None = None
    """Baseline of the same split"""

    def _summary(self) -> Summary:
        name, weights, seed = self.base
        base = f"RANDOM weights (seed {seed})" if weights == "random" else f'weights="{weights}"'
        settings = f" ({described(self.settings)})" if self.settings else ""
        value = metric_text(self.metric, self.value)
        share = fine_percent(self.trainable / self.total)
        best = self.epochs[self.best].epoch
        stopped = ", stopped early" if self.stopped else ""
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
        """Metric of the best epoch."""
        return self.metrics[self.metric]

    @property
    def metrics(self) -> Mapping[str, float]:
        """All metrics of the best epoch."""
        return self.epochs[self.best].metrics

    @cached_property
    def interval(self) -> tuple[float, float]:
        """95 % interval of `value` for other images of the same kind."""
        return metric_interval(self.task, self.outputs, self.targets)

    @cached_property
    def model(self) -> TunedModel:
        """Tuned model. Raises UnknownNameError, DownloadError or WeightsError if it cannot be loaded."""
        from vitexplorer.finetune.storing import load_tuned
        from vitexplorer.models.loading import load_backbone

        name, weights, seed = self.base
        return load_tuned(self.file, load_backbone(name, weights, seed=seed))

    @property
    def confusion(self) -> np.ndarray | None:
        """Counts of true class (rows) by predicted class, int (classes, classes); None for regression."""
        return confusion(self.outputs, self.targets) if self.classes else None

    @property
    def per_class(self) -> PerClass | None:
        """Precision, recall and F1 of each class; None for regression."""
        return per_class(self.outputs, self.targets, self.classes) if self.classes else None

    @property
    def residuals(self) -> np.ndarray | None:
        """Predicted minus true number, (images,); None for classes."""
        return None if self.classes else self.outputs - self.targets

    @property
    def wrong(self) -> tuple[int, ...]:
        """Validation images, worst first: wrong predictions by confidence; for numbers all, by error."""
        if not self.classes:
            return tuple(np.argsort(-np.abs(self.outputs - self.targets), kind="stable").tolist())
        predicted = self.outputs.argmax(1)
        by_confidence = np.argsort(-self.outputs.max(1), kind="stable")
        return tuple(int(i) for i in by_confidence if predicted[i] != self.targets[i])

    @property
    def learning_curve(self) -> LearningCurve | None:
        """Baseline's learning curve on this split; None without a baseline."""
        return self.baseline.learning_curve if self.baseline else None
