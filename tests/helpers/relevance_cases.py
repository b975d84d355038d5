"""Cases of relevance maps, and the slow twin of each, computed once."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from torch import nn

from tests.helpers import reference_relevance
from tests.helpers.reference_relevance import Differentiated, differentiate
from tests.helpers.small_models import capture_small
from vitexplorer.capturing.capture import Capture, capture_input
from vitexplorer.quantities.perturbation import blur_sigma

TARGET = 3


@cache
def truth(key: str, fit: str) -> Differentiated:
    """Differentiate a small model in float64, its attention an explicit softmax."""
    captured = capture_small(key, fit)
    return differentiate(captured.model.module, captured.input.tensor, TARGET)


def truth_of(captured: Capture) -> Differentiated:
    """Return `truth` for a capture of the fixture; models without a classifier have none."""
    if captured.logits is None:
        pytest.skip("no classifier")
    return truth(captured.model.name, captured.input.fit)


def close(values: np.ndarray, expected: np.ndarray, share: float = 2e-4) -> None:
    """Compare up to a share of the largest entry, since maps of small models span many orders of magnitude."""
    np.testing.assert_allclose(values, expected, rtol=0, atol=share * float(np.abs(expected).max()) + 1e-12)


def reads_class_token(captured: Capture) -> bool:
    """Return True if the model reads its class token, from timm's pooling instead of the package's own check."""
    return captured.prefix_tokens[:1] == ("cls",) and captured.model.module.global_pool != "avg"


def with_module(captured: Capture, module: nn.Module) -> Capture:
    """Capture the same image with another module of the same kind."""
    return capture_input(replace(captured.model, module=module), captured.input)


PIXEL_CASES = ["vit_not_square", "deit_distilled", "uneven", "beit", "dinov3", "swin_padded"]


def expected_baseline(captured: Capture, kind: str) -> np.ndarray:
    """Return the baseline image, (channels, height, width) normalised, in float64."""
    image = captured.input.tensor[0].double().numpy()
    preprocessing = captured.model.preprocessing
    if kind == "mean":
        return np.zeros_like(image)
    if kind == "black":
        black = [(0 - mean) / std for mean, std in zip(preprocessing.mean, preprocessing.std, strict=True)]
        return np.array(black)[:, None, None] + np.zeros_like(image)
    return reference_relevance.blurred(image, blur_sigma(captured))
