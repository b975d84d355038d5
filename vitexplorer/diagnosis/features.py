"""Features that a classifier reads, and what a probe makes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from vitexplorer.diagnosis.answers import BATCH, Batch
from vitexplorer.diagnosis.subject import UNKNOWN

Features = Float[np.ndarray, "images dim"]
PARTS = 3
"""Parts of the cross-validation of a probe, and fewest pictures of a class"""


class _Reader(TorchFunctionMode):
    """Keeps what one linear layer reads, in the thread that runs the model; the model is not touched."""

    def __init__(self, weight: Tensor):
        super().__init__()
        self.weight = weight
        self.read: Tensor | None = None

    def __torch_function__(
        self, func: Callable, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func is functional.linear and len(args) > 1 and args[1] is self.weight and self.read is None:
            self.read = args[0]
        return func(*args, **(kwargs or {}))


def classifiers_of(module: nn.Module, classes: int) -> dict[str, nn.Linear]:
    """Return the linear layers of that many outputs by name; a distilled DeiT has two."""
    layers = {name: part for name, part in module.named_modules() if isinstance(part, nn.Linear)}
    return {name: layer for name, layer in layers.items() if layer.out_features == classes}


def features_of(module: nn.Module, fed: Batch, classes: int) -> Features:
    """Return the features of each picture that the classifier reads, the last of several."""
    return read_by(module, fed, next(reversed(classifiers_of(module, classes).values()), None))


def read_by(module: nn.Module, fed: Batch, layer: nn.Linear | None) -> Features:
    """Return the features of each picture that a layer reads; the model's output if it reads none."""
    device = next(module.parameters()).device
    parts = []
    for start in range(0, len(fed), BATCH):
        batch = fed[start : start + BATCH].to(device)
        with torch.inference_mode():
            if layer is None:
                read: Tensor | None = module(batch)
            else:
                with _Reader(layer.weight) as reader:
                    output = module(batch)
                read = reader.read if reader.read is not None and len(reader.read) == len(batch) else output
        parts.append(read.reshape(len(batch), -1).float().cpu().numpy())
    return np.nan_to_num(np.concatenate(parts))


def rows_for_probe(labels: Int[np.ndarray, " images"]) -> Int[np.ndarray, " rows"]:
    """Return the pictures of known classes that have as many as the cross-validation of a probe needs."""
    classes, counts = np.unique(labels[labels != UNKNOWN], return_counts=True)
    return np.flatnonzero(np.isin(labels, classes[counts >= PARTS]))


def probe_accuracy(features: Features, labels: Int[np.ndarray, " images"]) -> float | None:
    """Return the share of labels that a probe gives, by cross-validation; None with a class of fewer than `PARTS`."""
    predicted = probe_predictions(features, labels)
    return None if predicted is None else float((predicted == labels).mean())


def probe_predictions(features: Features, labels: Int[np.ndarray, " images"]) -> np.ndarray | None:
    """Predict each label by logistic regression on the pictures of the other parts; None for too few of a class."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    counts = np.unique(labels, return_counts=True)[1]
    if len(counts) < 2 or counts.min() < PARTS:
        return None
    probe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))
    return cross_val_predict(probe, features, labels, cv=StratifiedKFold(PARTS, shuffle=True, random_state=0))
