"""A model's answers to a batch of pictures, and how well they fit: the measures that a check-up compares.

With labels the measure is accuracy; each picture also has a score, the logarithm of its label's probability, which
tells more than right or wrong. Without labels a picture's score is the information that its answer carries: the
Kullback-Leibler divergence of its probabilities, averaged over the picture and the same picture shifted by a few
pixels, from their mean over all pictures. The mean of this score is the mutual information of picture and class
(Bridle, Heading & MacKay 1991, "Unsupervised classifiers, mutual information and phantom targets"): it is low where a
model is unsure, says the same of every picture, or changes its mind when a picture moves.

A model without classes is judged by its features, and that takes labels: each picture is compared with the mean of each
class.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

ACCURACY = "accuracy"
INFORMATION = "information of the answers, nats"
SHIFT = (5, -3)
"""Rows and columns by which a picture is moved for its second answer"""
BATCH = 16
TEMPERATURE = 0.1
"""Cosine by which one class mean must be nearer than another to be e times as likely"""
_LEAST = math.log(1e-3)
"""Lowest score of a picture, so that one sure mistake does not outweigh many answers"""

Batch = Float[Tensor, "batch channels height width"]
Logits = Float[np.ndarray, "images classes"]
Scores = Float[np.ndarray, " images"]
Run = Callable[[Batch], Tensor]
"""Forward pass of a model, or of one that was changed"""


def run_of(module: nn.Module) -> Run:
    """Return the forward pass of a module on its own device, without gradients."""
    device = next(module.parameters()).device

    def run(batch: Batch) -> Tensor:
        with torch.inference_mode():
            return module(batch.to(device)).float().cpu()

    return run


def logits_of(run: Run, fed: Batch) -> Logits:
    """Run all pictures in small batches; infinite and undefined answers become 0."""
    parts = [run(fed[start : start + BATCH]).numpy() for start in range(0, len(fed), BATCH)]
    return np.nan_to_num(np.concatenate(parts), nan=0.0, posinf=0.0, neginf=0.0).astype(np.float64)


def class_mean_logits(features: Float[np.ndarray, "images ..."], labels: Int[np.ndarray, " images"]) -> Logits:
    """Compare each picture with the mean of each class: cosine / 0.1 of centred features, itself left out of its mean.

    Nearest class mean (Mensink et al. 2013, "Distance-based image classification: generalizing to new classes at
    near-zero cost", with cosines).
    """
    rows = features.reshape(len(features), -1)
    centred = rows - rows.mean(0)
    sums = np.zeros((labels.max() + 1, rows.shape[1]))
    np.add.at(sums, labels, centred)
    logits = unit_rows(centred) @ unit_rows(sums).T
    logits[np.arange(len(rows)), labels] = (unit_rows(centred) * unit_rows(sums[labels] - centred)).sum(1)
    return logits / TEMPERATURE


def unit_rows(rows: Float[np.ndarray, "rows dim"]) -> Float[np.ndarray, "rows dim"]:
    """Scale each row to the length 1; zeros stay."""
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def probabilities(logits: Logits) -> Logits:
    """Compute the softmax of each row."""
    raised = np.exp(logits - logits.max(1, keepdims=True))
    return raised / raised.sum(1, keepdims=True)


@dataclass(frozen=True)
class Judged:
    """Fit of answers to the labels or to each other."""

    value: float
    """Accuracy, 0-1, or mean information in nats"""
    scores: Scores
    """One number for each picture, higher is better"""


def judged_by_labels(logits: Logits, labels: Int[np.ndarray, " images"]) -> Judged:
    """Judge answers by labels; a label outside the classes counts as wrong."""
    inside = (labels >= 0) & (labels < logits.shape[1])
    chances = probabilities(logits)[np.arange(len(labels)), np.where(inside, labels, 0)]
    scores = np.where(inside, np.log(np.maximum(chances, 1e-12)), _LEAST)
    return Judged(float(np.mean((logits.argmax(1) == labels) & inside)), np.maximum(scores, _LEAST))


def judged_alone(logits: Logits, moved: Logits) -> Judged:
    """Judge answers without labels, from those to the same pictures moved."""
    both = (probabilities(logits) + probabilities(moved)) / 2
    usual = np.maximum(both.mean(0), 1e-12)
    scores = (both * np.log(np.maximum(both, 1e-12) / usual)).sum(1)
    return Judged(float(scores.mean()), scores)


def gain(before: Judged, after: Judged) -> float:
    """Compute how many standard errors the mean score rises by, over the same pictures; 0 for too few of them.

    Few pictures vary more by chance, so Student's t is turned into the normal deviate that is about as likely
    (Wallace 1959, "Bounds on normal approximations to Student's and the chi-square distributions").
    """
    change = after.scores - before.scores
    if len(change) < 4:
        return 0.0
    student = change.mean() / (change.std(ddof=1) / math.sqrt(len(change)) + 1e-6)
    freedom = len(change) - 1
    deviate = (8 * freedom + 1) / (8 * freedom + 3) * math.sqrt(freedom * math.log1p(student**2 / freedom))
    return math.copysign(deviate, student)


def moved(fed: Batch) -> Batch:
    """Shift pictures by a few pixels; what leaves at one edge comes in at the other."""
    return fed.roll(SHIFT, (2, 3))
