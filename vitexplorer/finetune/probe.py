"""Linear probe for a growing set of examples: the instant baseline's logistic regression on stored features.

The model runs once for each image and yields the feature that its classifier reads. A logistic regression learns on
these features (Alain & Bengio 2016, arXiv 1610.01644), standardised and penalised like the instant baseline
(`results/baseline.py`) and solved by the same code. One thing differs: its strength C is fixed. The baseline chooses C
by cross-validation. With a handful of images nearly all choices score the same, so it would take the strongest penalty
and every answer would be close to chance.

Misleading with few examples: any image, whatever it shows, is assigned to one of the known classes.
"""

from __future__ import annotations

import warnings

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray
from threadpoolctl import threadpool_limits

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.text import Progress
from vitexplorer.finetune.results.baseline import Features, LinearHead, logistic_head
from vitexplorer.finetune.training.cached_features import Pooled

STRENGTH = 1.0
"""C of the logistic regression: the middle of the instant baseline's candidates"""


def feature_of(capture: Capture) -> Float[ndarray, " dim"]:
    """Return the feature that a classifier would read, from a capture; float32.

    Models of which only the attention can be captured run a second time.
    """
    if capture.model.family.shows_stream:
        return capture.embedding.float().cpu().numpy()
    with torch.no_grad():
        return Pooled(capture.model.module)(capture.input.tensor)[0].float().cpu().numpy()


def fit_probe(features: Float[ndarray, "images dim"], labels: Int[ndarray, " images"]) -> LinearHead:
    """Fit the probe to all examples; labels count from 0, at least two of them, each with an example."""
    with warnings.catch_warnings(), threadpool_limits(1, "blas"):  # the problem is too small for threads to help
        warnings.simplefilter("ignore")  # a fit that has not converged is used too, as in the baseline
        return logistic_head(STRENGTH, Features(features, labels), int(labels.max()) + 1)


def shares(head: LinearHead, features: Float[ndarray, "images dim"]) -> Float[ndarray, "images classes"]:
    """Compute class probabilities, softmax(weight (x - centre) / spread + bias); rows sum to 1."""
    standard = ((features - head.centre) / head.spread).astype(np.float64)
    return torch.softmax(torch.from_numpy(standard @ head.weight.T + head.bias), 1).numpy()


def leave_one_out(
    features: Float[ndarray, "images dim"], labels: Int[ndarray, " images"], progress: Progress | None = None
) -> Int[ndarray, " images"]:
    """Predict each example with a probe that is fitted to all others (Stone 1974, JRSS B 36).

    Centre and spread come from the others, too. Every class needs at least two examples. `progress` counts examples.
    """
    predicted = np.empty(len(labels), int)
    for i in range(len(labels)):
        if progress:
            progress(i, len(labels))
        rest = np.arange(len(labels)) != i
        predicted[i] = shares(fit_probe(features[rest], labels[rest]), features[i : i + 1]).argmax()
    return predicted
