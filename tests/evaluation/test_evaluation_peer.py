"""Evaluation protocols against Quantus, where installed; it brings another OpenCV, so it is no requirement."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.helpers.small_models import capture_small
from vitexplorer.core.types import PatchGrid
from vitexplorer.evaluation.mass_accuracy import mass_accuracy
from vitexplorer.evaluation.pointing import points_at
from vitexplorer.evaluation.rank_accuracy import rank_accuracy
from vitexplorer.evaluation.ranks import spearman
from vitexplorer.evaluation.road import filled_in
from vitexplorer.evaluation.sensitivity import DRAWS, noisy, relative_distances

pytestmark = pytest.mark.filterwarnings("default")  # its warnings are not ours
quantus = pytest.importorskip("quantus", reason="Quantus is not installed: pip install quantus in another environment")

QUIET = {"disable_warnings": True, "display_progressbar": False, "normalise": False, "abs": False}
RNG = np.random.default_rng(2)


def asked(metric, values: np.ndarray, mask: np.ndarray) -> float:
    """Return Quantus' localisation score of one map of pixels."""
    image = RNG.random((1, 3, *mask.shape)).astype(np.float32)
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * mask.size, 2))
    (result,) = metric(model, image, np.array([0]), values[None, None], mask[None, None].astype(int), device="cpu")
    return float(result)


def test_relevance_and_pointing_at_a_mask():
    """Draw one distinct value per pixel, so that there are no ties to order."""
    mask, grid = np.zeros((12, 16), bool), PatchGrid(12, 16, 1)
    mask[3:9, 2:9] = True
    for _ in range(3):
        values = RNG.normal(size=mask.shape)
        mass = asked(quantus.RelevanceMassAccuracy(**QUIET), values.clip(0), mask)
        assert mass_accuracy(values, grid, mask) == pytest.approx(mass)
        assert rank_accuracy(values, grid, mask) == pytest.approx(
            asked(quantus.RelevanceRankAccuracy(**QUIET), values, mask)
        )
        assert points_at(values, grid, mask) == bool(asked(quantus.PointingGame(**QUIET), values, mask))


def test_imputation_of_missing_pixels():
    from quantus.functions.perturb_func import noisy_linear_imputation

    image = RNG.normal(size=(3, 24, 24))
    missing = np.zeros((24, 24), bool)
    missing[:8, :8], missing[12:20, 4:16] = True, True
    peer = noisy_linear_imputation(image.copy(), np.flatnonzero(missing), noise=0.0)
    ours = filled_in(torch.tensor(image)[None], torch.tensor(missing)[None, None].double())[0]
    assert ours.numpy() == pytest.approx(peer.reshape(image.shape), abs=0.01)


def test_rank_correlation():
    from quantus.functions.similarity_func import correlation_spearman

    one, other = RNG.normal(size=40), RNG.integers(0, 5, 40).astype(float)
    assert spearman(one, other) == pytest.approx(correlation_spearman(one, other))


@pytest.mark.parametrize("metric", ["MaxSensitivity", "AvgSensitivity"])
def test_sensitivity_to_the_same_noise(metric):
    capture = capture_small("vit")
    image = capture.input.tensor
    draws = [noisy(capture, draw).input.tensor for draw in range(DRAWS)]
    given = iter(draws)

    def explain(model, inputs, targets, **_) -> np.ndarray:
        x = torch.tensor(np.asarray(inputs), dtype=torch.float32).requires_grad_()
        (slope,) = torch.autograd.grad(capture.run(x)[:, 2].sum(), x)
        return slope.sum(1, keepdim=True).numpy()

    own = explain(None, image, None)
    peer = getattr(quantus, metric)(
        nr_samples=DRAWS, perturb_func=lambda arr, indices, **_: next(given).numpy().reshape(arr.shape), **QUIET
    )(capture.model.module, image.numpy(), np.array([2]), own, explain_func=explain, device="cpu")
    ours = relative_distances(own[0, 0], np.stack([explain(None, draw, None)[0, 0] for draw in draws]))
    assert peer[0] == pytest.approx(ours.max() if metric == "MaxSensitivity" else ours.mean(), rel=1e-3)
