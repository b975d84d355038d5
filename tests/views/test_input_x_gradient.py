"""Input times gradient against its slow twin and Captum."""

from __future__ import annotations

import vitexplorer as vx
from tests.helpers import reference_relevance
from tests.helpers.relevance_cases import TARGET, close, truth_of
from tests.helpers.small_models import capture_small


def test_input_x_gradient(any_capture):
    expected, grid = truth_of(any_capture), any_capture.grid(0)
    product = expected.image * expected.image_gradient
    result = vx.compute("input_x_gradient", any_capture, target=TARGET)
    close(result.values, reference_relevance.patch_sums(product, grid.rows, grid.cols, grid.patch_size))


def test_input_x_gradient_is_captums():
    from captum.attr import InputXGradient

    captured = capture_small("deit_distilled")
    grid = captured.grid(0)
    attribution = InputXGradient(captured.model.module).attribute(
        captured.input.tensor.clone().requires_grad_(), TARGET
    )
    expected = reference_relevance.patch_sums(attribution[0].detach().numpy(), grid.rows, grid.cols, grid.patch_size)
    close(vx.compute("input_x_gradient", captured, target=TARGET).values, expected, 1e-4)
