"""Baseline images, and the patch of each pixel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.helpers.relevance_cases import expected_baseline
from tests.helpers.small_models import capture_small
from vitexplorer.quantities.perturbation import baseline_image, blur_sigma, patch_of_pixel, patch_sums


@pytest.mark.parametrize("kind", ["mean", "black", "blur"])
def test_baselines(kind):
    captured = capture_small("vit_not_square")
    assert blur_sigma(captured) == 2  # 48 x 80 pixels
    result = baseline_image(captured, kind)[0].numpy()
    np.testing.assert_allclose(result, expected_baseline(captured, kind), atol=1e-5)


def test_pixels_beyond_the_last_whole_patch_belong_to_none():
    grid = replace(capture_small("siglip").grid(0), rows=2, cols=3, patch_size=2)
    assert patch_of_pixel(grid, 5, 7)[:, 0].tolist() == [0, 0, 3, 3, 6]
    assert patch_of_pixel(grid, 5, 7)[0].tolist() == [0, 0, 1, 1, 2, 2, 6]
    assert patch_sums(torch.ones(5, 7), grid).tolist() == [4.0] * 6
