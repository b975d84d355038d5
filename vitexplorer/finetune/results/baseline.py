"""Instant baseline: logistic or ridge regression on the features that a linear head would read.

Features are standardised on the training side. The strength of the penalty is chosen by cross-validation within the
training side: 3 folds over a grid for logistic regression (on at most 2000 images, fewer with many features and
classes, so that it takes seconds), leave-one-out in closed form for ridge regression (scikit-learn's RidgeCV).
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from vitexplorer.finetune.results.metrics import METRIC, scores
from vitexplorer.finetune.results.records import Baseline, LearningCurve
from vitexplorer.storage.dataset import Task

_STRENGTHS = np.logspace(-3, 2, 6)
"""Candidates for C of the logistic regression, on standardised features"""
_ALPHAS = np.logspace(-1, 5, 13)
_FOLDS = 3
_MOST_FOR_CHOICE = 2000
_NUMBERS_FOR_CHOICE = 6e7
"""Most images x features x classes in one fold's fit"""
_ITERATIONS, _ITERATIONS_FOR_CHOICE = 200, 50
_SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Features:
    """Frozen features and targets of the images of one side."""

    values: Float[np.ndarray, "images dim"]
    targets: np.ndarray
    """Class indices or numbers, (images,)"""


@dataclass(frozen=True)
class LinearHead:
    """Regression as a linear head: logits or numbers are weight (x - centre) / spread + bias."""

    weight: Float[np.ndarray, "outputs dim"]
    bias: Float[np.ndarray, " outputs"]
    centre: Float[np.ndarray, " dim"]
    spread: Float[np.ndarray, " dim"]


def fit_baseline(
    task: Task, classes: int, train: Features, validation: Features, seed: int = 0, feature_seconds: float = 0.0
) -> tuple[Baseline, LinearHead | None]:
    """Fit the regression and its learning curve; return the record and the regression as a linear head.

    The head is None if all training images are of one class.

    `classes` includes those without training images, and is ignored for regression. `seed` is that of the folds and of
    the learning curve's subsets; `feature_seconds` is what the features took, for the record.
    """
    start = time.perf_counter()
    centre, spread = train.values.mean(0), train.values.std(0) + 1e-6
    train = Features(_standard(train.values, centre, spread), train.targets)
    validation = Features(_standard(validation.values, centre, spread), validation.targets)
    constant = _constant(task, classes, train, validation)
    order = _nested(task, train.targets, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit that has not converged is still a baseline
        strength = _choose(task, train, order)
        sizes = sorted({max(2, round(share * len(order))) for share in _SHARES})
        curve = []
        metrics = {}
        for size in sizes:
            part = order[:size]
            model = _fitted(task, strength, Features(train.values[part], train.targets[part]))
            outputs = _outputs(task, classes, model, train.targets[part], validation)
            metrics = scores(task, outputs, validation.targets)
            curve.append(metrics[METRIC[task]])
    baseline = Baseline(
        metric=METRIC[task],
        metrics=metrics,
        constant=constant,
        strength=strength,
        learning_curve=LearningCurve(tuple(sizes), tuple(curve)),
        seconds=time.perf_counter() - start,
        feature_seconds=feature_seconds,
    )
    return baseline, None if model is None else LinearHead(*_coefficients(task, classes, model), centre, spread)


def logistic_head(strength: float, train: Features, classes: int) -> LinearHead:
    """Fit a regression of one strength as a linear head; at least two classes need an image."""
    centre, spread = train.values.mean(0), train.values.std(0) + 1e-6
    model = _logistic(strength, _standard(train.values, centre, spread), train.targets)
    return LinearHead(*_coefficients("classification", classes, model), centre, spread)


def _standard(values: np.ndarray, centre: np.ndarray, spread: np.ndarray) -> np.ndarray:
    return ((values - centre) / spread).astype(np.float64)


def _constant(task: Task, classes: int, train: Features, validation: Features) -> float:
    """Return the metric of the best constant prediction: the mean, or the class shares."""
    if task == "regression":
        outputs = np.full(len(validation.targets), train.targets.mean())
    else:
        shares = np.bincount(train.targets, minlength=classes) / len(train.targets)
        outputs = np.tile(shares, (len(validation.targets), 1))
    return scores(task, outputs, validation.targets)[METRIC[task]]


def _nested(task: Task, targets: np.ndarray, seed: int) -> np.ndarray:
    """Return positions (images,) in an order whose every prefix has about the same share of each class."""
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(len(targets))
    if task == "regression":
        return shuffled
    place = np.empty(len(targets))
    for c in np.unique(targets):
        own = shuffled[targets[shuffled] == c]
        place[own] = (np.arange(len(own)) + rng.random()) / len(own)
    return np.argsort(place, kind="stable")


def _choose(task: Task, train: Features, order: np.ndarray) -> float:
    """Choose the strength that predicts left-out training images best."""
    if task == "regression":
        from sklearn.linear_model import RidgeCV

        return float(RidgeCV(_ALPHAS).fit(train.values, train.targets).alpha_)
    most = _NUMBERS_FOR_CHOICE / (train.values.shape[1] * len(np.unique(train.targets)))
    order = order[: min(_MOST_FOR_CHOICE, max(200, int(most)))]
    values, targets = train.values[order], train.targets[order]
    folds = np.arange(len(order)) % _FOLDS  # stratified, because the order is
    correct_counts = []
    for strength in _STRENGTHS:
        correct = 0
        for fold in range(_FOLDS):
            rest, held_out = folds != fold, folds == fold
            if len(np.unique(targets[rest])) > 1:
                model = _logistic(strength, values[rest], targets[rest], _ITERATIONS_FOR_CHOICE)
                correct += int((model.predict(values[held_out]) == targets[held_out]).sum())
        correct_counts.append(correct)
    return float(_STRENGTHS[int(np.argmax(correct_counts))])


def _logistic(strength: float, values: np.ndarray, targets: np.ndarray, iterations: int = _ITERATIONS):
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=strength, max_iter=iterations, tol=1e-3).fit(values, targets)


def _fitted(task: Task, strength: float, train: Features) -> Any:
    """Fit scikit-learn's regression; None if all images are of one class."""
    if task == "regression":
        from sklearn.linear_model import Ridge

        return Ridge(alpha=strength).fit(train.values, train.targets)
    return _logistic(strength, train.values, train.targets) if len(np.unique(train.targets)) > 1 else None


def _outputs(task: Task, classes: int, model: Any, learned: np.ndarray, validation: Features) -> np.ndarray:
    """Predict probabilities (images, classes) or numbers (images,) of the validation side."""
    if task == "regression":
        return model.predict(validation.values)
    probabilities = np.zeros((len(validation.targets), classes))
    if model is None:
        probabilities[:, learned[0]] = 1
    else:
        probabilities[:, model.classes_] = model.predict_proba(validation.values)
    return probabilities


def _coefficients(task: Task, classes: int, model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return weight (outputs, dim) and bias (outputs,); classes without training images get the lowest bias."""
    if task == "regression":
        return model.coef_[None], np.atleast_1d(model.intercept_)
    coef, intercept = model.coef_, model.intercept_
    if len(model.classes_) == 2:  # scikit-learn has one row of logits for two classes
        coef, intercept = np.concatenate([-coef, coef]) / 2, np.concatenate([-intercept, intercept]) / 2
    weight, bias = np.zeros((classes, coef.shape[1])), np.full(classes, intercept.min())
    weight[model.classes_], bias[model.classes_] = coef, intercept
    return weight, bias
