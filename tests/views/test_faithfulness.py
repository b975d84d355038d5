"""Curves and areas of faithfulness against their slow twin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

import vitexplorer as vx
from tests.helpers import reference_relevance
from tests.helpers.relevance_cases import TARGET, expected_baseline
from tests.helpers.small_models import capture_small, picture
from tests.helpers.small_texts import save_clip
from vitexplorer.capturing.capture import Capture
from vitexplorer.quantities.faithfulness import coarsened, ranking


def assert_curves_are_the_twins(
    captured: Capture, target: object, value: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    """Compare curves and areas with slow ones, whose value is that of one picture (1, channels, height, width)."""
    grid, image = captured.grid(captured.depth - 1), captured.input.tensor[0].numpy()
    mean, blur = (expected_baseline(captured, kind).astype(np.float32) for kind in ("mean", "blur"))
    result = vx.compute("faithfulness", captured, target=target, methods="grad_cam, input_x_gradient", steps=4, seed=5)
    assert result.methods == ("grad_cam", "input_x_gradient", "random")
    counts = [round(k * grid.num_patches / 4) for k in range(5)]
    shares = [count / grid.num_patches for count in counts]
    np.testing.assert_allclose(result.steps, shares)

    def of_pixels(pixels: np.ndarray) -> float:
        with torch.no_grad():
            return float(value(torch.from_numpy(pixels)[None]))

    for m, method in enumerate(result.methods):
        controls = {"seed": 5} if method == "random" else {}
        one = vx.compute(method, captured, target=target, **controls)
        order = ranking(coarsened(one.values, one.grid, grid), seed=5).tolist()
        deletion = reference_relevance.curve(of_pixels, image, mean, order, counts, grid.cols, grid.patch_size)
        outside = reference_relevance.covered(image, blur, range(grid.num_patches), grid.cols, grid.patch_size)
        insertion = reference_relevance.curve(of_pixels, outside, image, order, counts, grid.cols, grid.patch_size)
        for c, expected in enumerate((deletion, insertion)):
            np.testing.assert_allclose(result.values[m, c], expected, atol=1e-5)
            assert result.areas[m, c] == pytest.approx(reference_relevance.area(expected, shares), abs=1e-5)


@pytest.mark.parametrize("key", ["vit_not_square", "uneven", "swin_padded"])
def test_curves_and_areas(key: str) -> None:
    captured = capture_small(key)
    assert_curves_are_the_twins(captured, TARGET, lambda image: captured.model.module(image).softmax(-1)[0, TARGET])


def test_one_class_rather_than_another_is_followed_by_its_logits() -> None:
    captured = capture_small("vit_not_square")
    module = captured.model.module
    assert_curves_are_the_twins(
        captured, f"{TARGET} vs 1", lambda image: module(image)[0, TARGET] - module(image)[0, 1]
    )
    result = vx.compute("faithfulness", captured, target=f"{TARGET} vs 1", methods="")
    assert (result.unit.en, result.target) == ("logit", None)


def test_a_text_is_followed_by_its_cosine(tmp_path: Path) -> None:
    library = save_clip(tmp_path).eval()
    model = vx.load_model(tmp_path)
    captured = vx.capture(model, picture(64, 64))
    text = torch.from_numpy(vx.embed_text(model, ["a red gear"])).float()

    def cosine(image: torch.Tensor) -> torch.Tensor:
        features = library.get_image_features(image).pooler_output
        return torch.nn.functional.cosine_similarity(features, text)[0]

    assert_curves_are_the_twins(captured, "text: a red gear", cosine)
    assert vx.compute("faithfulness", captured, target="text: a red gear", methods="").unit.en == "cosine"
    judged = vx.compute("trust", captured, target="text: a red gear", methods="grad_cam", steps=2)
    assert any("(cosine)" in note.en for note in judged.notes)


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
