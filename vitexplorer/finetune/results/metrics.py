"""Metrics of predictions: for the whole validation set, for each class and each image; the runs worth their cost.

scikit-learn's definitions throughout. A class that is never predicted has precision 0, one without images recall 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from vitexplorer.core.format import measured, percent
from vitexplorer.core.summaries import Summarised
from vitexplorer.storage.dataset import Task

METRIC: dict[Task, str] = {"classification": "accuracy", "regression": "rmse"}
"""Metric that selects the best epoch and ranks the methods"""
_TOP = 5


@dataclass(frozen=True, eq=False)
class PerClass(Summarised):
    """Metrics of each class of the validation set, 0-1."""

    classes: tuple[str, ...]
    precision: Float[np.ndarray, " classes"]
    recall: Float[np.ndarray, " classes"]
    f1: Float[np.ndarray, " classes"]
    support: Int[np.ndarray, " classes"]
    """Number of validation images of each class"""


def higher_is_better(metric: str) -> bool:
    """Return False for errors and losses, True for other metrics."""
    return metric not in ("rmse", "mae", "loss")


def metric_text(metric: str, value: float) -> str:
    """Format a metric: an accuracy as a percentage, an error as a number."""
    return percent(value) if metric == "accuracy" else measured(value)


def is_better(metric: str, value: float, than: float) -> bool:
    """Return True if `value` beats `than`; NaN beats nothing and everything else beats NaN."""
    if np.isnan(value):
        return False
    return bool(np.isnan(than) or (value > than if higher_is_better(metric) else value < than))


def scores(task: Task, outputs: np.ndarray, targets: np.ndarray) -> dict[str, float]:
    """Compute all metrics of a validation set.

    Args:
        task: classification or regression.
        outputs: probabilities (images, classes), or predicted numbers (images,).
        targets: indices of classes, or numbers, (images,).

    Returns:
        accuracy, balanced_accuracy, macro_f1 and, with more than 5 classes, top5; or rmse, mae and r2. All NaN if an
        output is not finite.
    """
    return _of_numbers(outputs, targets) if task == "regression" else _of_classes(outputs, targets)


def _of_classes(probabilities: np.ndarray, targets: np.ndarray) -> dict[str, float]:
    from sklearn.metrics import f1_score

    predicted = probabilities.argmax(1)
    classes = probabilities.shape[1]
    present = np.unique(targets)
    correct = predicted == targets
    values = {
        "accuracy": float(correct.mean()),
        "balanced_accuracy": float(np.mean([correct[targets == c].mean() for c in present])),
        "macro_f1": float(f1_score(targets, predicted, average="macro", zero_division=0)),
    }
    if classes > _TOP:
        best = np.argpartition(-probabilities, _TOP - 1, axis=1)[:, :_TOP]
        values["top5"] = float((best == targets[:, None]).any(1).mean())
    return values if np.isfinite(probabilities).all() else dict.fromkeys(values, float("nan"))


def _of_numbers(predicted: np.ndarray, targets: np.ndarray) -> dict[str, float]:
    errors = predicted - targets
    spread = float(np.square(targets - targets.mean()).sum())
    return {
        "rmse": float(np.sqrt(np.square(errors).mean())),
        "mae": float(np.abs(errors).mean()),
        "r2": 1 - float(np.square(errors).sum()) / spread if spread else float("nan"),
    }


def per_class(probabilities: np.ndarray, targets: np.ndarray, classes: tuple[str, ...]) -> PerClass:
    """Compute precision, recall and F1 of each class."""
    from sklearn.metrics import precision_recall_fscore_support

    precision, recall, f1, support = precision_recall_fscore_support(
        targets, probabilities.argmax(1), labels=np.arange(len(classes)), zero_division=0
    )
    return PerClass(classes, precision, recall, f1, support.astype(np.int64))


def confusion(probabilities: np.ndarray, targets: np.ndarray) -> Int[np.ndarray, "true predicted"]:
    """Count how often each true class (rows) was predicted as each class (columns)."""
    from sklearn.metrics import confusion_matrix

    classes = np.arange(probabilities.shape[1])
    return confusion_matrix(targets, probabilities.argmax(1), labels=classes).astype(np.int64)


def losses_of_images(task: Task, outputs: np.ndarray, targets: np.ndarray) -> Float[np.ndarray, " images"]:
    """Compute each image's contribution to the metric: 1 for a wrong class, or the squared error of a number."""
    if task == "classification":
        return (outputs.argmax(1) != targets).astype(np.float64)
    return np.square(outputs - targets).astype(np.float64)


def pareto_front(metric: str, values: Sequence[float], costs: Sequence[float]) -> Bool[np.ndarray, " runs"]:
    """Return True for each run that no other dominates: at least as good and as cheap, and better in metric or cost.

    Runs that are equal in both are on the front together. A NaN value is never on the front.
    """
    gain = np.asarray(values, float) * (1 if higher_is_better(metric) else -1)
    cost = np.asarray(costs, float)
    no_worse = (gain[None] >= gain[:, None]) & (cost[None] <= cost[:, None])
    better = (gain[None] > gain[:, None]) | (cost[None] < cost[:, None])
    return ~np.isnan(gain) & ~(no_worse & better).any(1)
