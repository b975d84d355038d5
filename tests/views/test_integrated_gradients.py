"""Integrated gradients against their slow twin and Captum; they add up to the change of the logit."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

import vitexplorer as vx
from tests.helpers import reference_relevance
from tests.helpers.relevance_cases import PIXEL_CASES, TARGET, close, expected_baseline
from tests.helpers.small_models import capture_small
from vitexplorer.quantities.perturbation import baseline_image


@pytest.mark.parametrize("key", PIXEL_CASES)
@pytest.mark.parametrize("kind", ["mean", "black", "blur"])
def test_integrated_gradients(key, kind):
    captured, steps = capture_small(key), 6
    twin, grid = reference_relevance.in_float64(captured.model.module), captured.grid(0)

    def gradient(image: np.ndarray) -> np.ndarray:
        given = torch.from_numpy(image)[None].requires_grad_()
        return torch.autograd.grad(twin(given)[0, TARGET], given)[0][0].numpy()

    image = captured.input.tensor[0].double().numpy()
    pixels = reference_relevance.integrated_gradients(gradient, image, expected_baseline(captured, kind), steps)
    result = vx.compute("integrated_gradients", captured, target=TARGET, baseline=kind, steps=steps)
    close(result.values, reference_relevance.patch_sums(pixels, grid.rows, grid.cols, grid.patch_size), 1e-3)


@pytest.mark.parametrize("key", ["vit_not_square", "deit_distilled", "swin"])
@pytest.mark.parametrize("kind", ["mean", "blur"])
def test_integrated_gradients_are_captums(key, kind):
    from captum.attr import IntegratedGradients

    captured = capture_small(key)
    grid, image = captured.grid(0), captured.input.tensor.clone()
    peer = IntegratedGradients(copy.deepcopy(captured.model.module))
    attribution = peer.attribute(image, baseline_image(captured, kind), TARGET, n_steps=7)[0].detach().numpy()
    expected = reference_relevance.patch_sums(attribution, grid.rows, grid.cols, grid.patch_size)
    result = vx.compute("integrated_gradients", captured, target=TARGET, baseline=kind, steps=7)
    close(result.values, expected, 1e-4)


@pytest.mark.parametrize("key", ["vit", "deit_distilled", "registers_only", "swin"])
def test_integrated_gradients_add_up_to_the_rise_of_the_logit(key):
    captured = capture_small(key)
    with torch.no_grad():
        start = captured.model.module(baseline_image(captured, "black"))[0, TARGET]
    rise = float(captured.logits[TARGET] - start)
    result = vx.compute("integrated_gradients", captured, target=TARGET, baseline="black", steps=128)
    assert result.values.sum() == pytest.approx(rise, abs=0.02 * max(1, abs(rise)))
    assert f"the logit rises by {rise:.3f}" in result.notes[-1].en
