"""Occlusion against its slow twin and Captum."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import vitexplorer as vx
from tests.helpers import reference_relevance
from tests.helpers.relevance_cases import PIXEL_CASES, TARGET, expected_baseline
from tests.helpers.small_models import capture_small
from vitexplorer.quantities.perturbation import baseline_image


@pytest.mark.parametrize("key", [*PIXEL_CASES, "swin"])
@pytest.mark.parametrize("kind", ["mean", "blur"])
def test_occlusion(key, kind):
    captured = capture_small(key)
    grid, module = captured.grid(captured.depth - 1), captured.model.module
    image, other = captured.input.tensor[0].numpy(), expected_baseline(captured, kind).astype(np.float32)
    expected = np.zeros((grid.rows, grid.cols))
    for patch in range(grid.num_patches):
        covered = reference_relevance.covered(image, other, [patch], grid.cols, grid.patch_size)
        with torch.no_grad():
            fall = captured.logits[TARGET] - module(torch.from_numpy(covered)[None])[0, TARGET]
        expected[divmod(patch, grid.cols)] = float(fall)
    result = vx.compute("occlusion", captured, target=TARGET, baseline=kind)
    np.testing.assert_allclose(result.values, expected, atol=2e-5)


@pytest.mark.parametrize("key", ["vit_not_square", "deit_distilled", "swin"])
@pytest.mark.parametrize("kind", ["mean", "black"])
def test_occlusion_is_captums(key, kind):
    """captum's sliding window, one patch large with a stride of one, gives every pixel of a patch the same drop."""
    from captum.attr import Occlusion

    captured = capture_small(key)
    grid, image = captured.grid(captured.depth - 1), captured.input.tensor
    side = (image.shape[1], grid.patch_size, grid.patch_size)
    attribution = Occlusion(captured.model.module).attribute(
        image, side, strides=side, baselines=baseline_image(captured, kind), target=TARGET
    )
    first = attribution[0, 0, :: grid.patch_size, :: grid.patch_size]
    result = vx.compute("occlusion", captured, target=TARGET, baseline=kind)
    np.testing.assert_allclose(result.values, first.detach().numpy(), atol=2e-5)
