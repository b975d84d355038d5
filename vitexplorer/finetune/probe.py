"""A linear probe that learns as examples come: the instant baseline's regression on features that are kept.

Of each picture the model is asked once, for the feature that its classifier reads; what learns is a logistic regression
on these (Alain & Bengio 2016, arXiv 1610.01644), standardised and penalised as the instant baseline's
(`results/baseline.py`) and solved by the same code. One thing differs: its strength C is fixed. The baseline chooses it
by cross-validation; of a handful of images nearly every choice is as right as the others, the baseline then takes the
strongest penalty, and all answers would stand next to chance.

It misleads where it has seen little: any picture, of whatever, is one of the classes that were taught.
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
from vitexplorer.finetune.training.kept_features import Pooled

STRENGTH = 1.0
"""C of the logistic regression: the middle of what the instant baseline chooses from"""


def feature_of(capture: Capture) -> Float[ndarray, " dim"]:
    """What a classifier would read of a picture, from its capture; float32.

    A family of which only the attention is stated runs a second time for it.
    """
    if capture.model.family.shows_stream:
        return capture.embedding.float().cpu().numpy()
    with torch.no_grad():
        return Pooled(capture.model.module)(capture.input.tensor)[0].float().cpu().numpy()


def fit_probe(features: Float[ndarray, "images dim"], labels: Int[ndarray, " images"]) -> LinearHead:
    """The probe after all examples; labels count from 0, at least two of them, each with an example."""
    with warnings.catch_warnings(), threadpool_limits(1, "blas"):  # so small that threads only wait for one another
        warnings.simplefilter("ignore")  # one that has not converged is still a probe, as the baseline's
        return logistic_head(STRENGTH, Features(features, labels), int(labels.max()) + 1)


def shares(head: LinearHead, features: Float[ndarray, "images dim"]) -> Float[ndarray, "images classes"]:
    """Probability of each class: softmax of weight (x - centre) / spread + bias. Rows sum to 1."""
    standard = ((features - head.centre) / head.spread).astype(np.float64)
    return torch.softmax(torch.from_numpy(standard @ head.weight.T + head.bias), 1).numpy()


def leave_one_out(
    features: Float[ndarray, "images dim"], labels: Int[ndarray, " images"], progress: Progress | None = None
) -> Int[ndarray, " images"]:
    """What the probe takes each example for when it is taught with all the others (Stone 1974, JRSS B 36).

    Centre and spread are those of the others, too. Every class needs two examples or more. `progress` is told of
    examples.
    """
    said = np.empty(len(labels), int)
    for i in range(len(labels)):
        if progress:
            progress(i, len(labels))
        rest = np.arange(len(labels)) != i
        said[i] = shares(fit_probe(features[rest], labels[rest]), features[i : i + 1]).argmax()
    return said
