"""Curves and areas of faithfulness against their slow twin."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import vitexplorer as vx
from tests.helpers import reference_relevance
from tests.helpers.relevance_cases import TARGET, expected_baseline
from tests.helpers.small_models import capture_small
from vitexplorer.quantities.faithfulness import coarsened, ranking


@pytest.mark.parametrize("key", ["vit_not_square", "uneven", "swin_padded"])
def test_curves_and_areas(key):
    captured = capture_small(key)
    grid, module = captured.grid(captured.depth - 1), captured.model.module
    image = captured.input.tensor[0].numpy()
    mean, blur = (expected_baseline(captured, kind).astype(np.float32) for kind in ("mean", "blur"))
    result = vx.compute("faithfulness", captured, target=TARGET, methods="grad_cam, input_x_gradient", steps=4, seed=5)
    assert result.methods == ("grad_cam", "input_x_gradient", "random")
    counts = [round(k * grid.num_patches / 4) for k in range(5)]
    shares = [count / grid.num_patches for count in counts]
    np.testing.assert_allclose(result.steps, shares)

    def probability(pixels: np.ndarray) -> float:
        with torch.no_grad():
            return float(module(torch.from_numpy(pixels)[None]).softmax(-1)[0, TARGET])

    for m, method in enumerate(result.methods):
        controls = {"seed": 5} if method == "random" else {}
        one = vx.compute(method, captured, target=TARGET, **controls)
        order = ranking(coarsened(one.values, one.grid, grid), seed=5).tolist()
        deletion = reference_relevance.curve(probability, image, mean, order, counts, grid.cols, grid.patch_size)
        outside = reference_relevance.covered(image, blur, range(grid.num_patches), grid.cols, grid.patch_size)
        insertion = reference_relevance.curve(probability, outside, image, order, counts, grid.cols, grid.patch_size)
        for c, expected in enumerate((deletion, insertion)):
            np.testing.assert_allclose(result.values[m, c], expected, atol=1e-5)
            assert result.areas[m, c] == pytest.approx(reference_relevance.area(expected, shares), abs=1e-5)


def test_curves_begin_and_end_at_the_same_images():
    captured = capture_small("vit")
    result = vx.compute("faithfulness", captured, target=TARGET)
    whole = float(captured.logits.softmax(0)[TARGET])
    np.testing.assert_allclose(result.values[:, 0, 0], whole, atol=1e-6)
    np.testing.assert_allclose(result.values[:, 1, -1], whole, atol=1e-6)
    for same in (result.values[:, 0, -1], result.values[:, 1, 0]):
        np.testing.assert_array_equal(same, same[0])
    assert result.steps[0] == 0
    assert result.steps[-1] == 1
    assert result.values.shape == (len(result.methods), len(result.curves), len(result.steps))
    assert result.methods[-1] == "random"
