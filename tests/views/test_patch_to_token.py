"""From pixels to a token: the steps against loops over numbers, and the last one against what block 0 read."""

from __future__ import annotations

import base64
import io
from itertools import product

import numpy as np
import pytest
from PIL import Image

import vitexplorer as vx
from tests.helpers import reference_tokens
from tests.helpers.small_models import capture_small
from vitexplorer.controls.spec import Board
from vitexplorer.core.text import SettingError, UnsupportedError
from vitexplorer.figures import render
from vitexplorer.figures.tables import as_json


def pixels_of(source: str) -> np.ndarray:
    """Return the pixels of a picture of a figure."""
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(source.split(",")[1]))))


def test_the_token_is_what_the_first_block_read(any_capture):
    """Compare with the captured residual stream to 1e-5, for every family and at every corner of the grid."""
    if any_capture.model.name.startswith("hybrid"):
        with pytest.raises(UnsupportedError, match="single matrix"):
            vx.compute("patch_to_token", any_capture)
        return
    grid, prefix = any_capture.grid(0), len(any_capture.prefix_tokens)
    read = any_capture.residual(0).numpy()
    for row, col in product((0, grid.rows - 1), (0, grid.cols - 1)):
        result = vx.compute("patch_to_token", any_capture, patch=(row, col))
        expected = read[prefix + row * grid.cols + col]
        np.testing.assert_allclose(result.values, expected, atol=1e-5, rtol=1e-5)
        assert result.difference == pytest.approx(np.abs(result.values - expected).max(), abs=1e-6)
        assert result.steps[-1].shape == read.shape


@pytest.mark.parametrize("key", ["vit", "deit_distilled", "beit", "dinov3", "swin"])
def test_each_step_number_by_number(key):
    """Slow twin: normalise, flatten pixel by pixel, multiply entry by entry, add."""
    captured = capture_small(key)
    module, grid, preprocessing = captured.model.module, captured.grid(0), captured.model.preprocessing
    P, (row, col) = grid.patch_size, (1, 2)
    result = vx.compute("patch_to_token", captured, patch=(row, col))
    flat, columns = [], []
    weight = module.patch_embed.proj.weight.detach().double().numpy()
    for y, x, c in product(range(P), range(P), range(3)):
        value = captured.input.pixels[row * P + y, col * P + x, c] / 255
        flat.append((value - preprocessing.mean[c]) / preprocessing.std[c])
        columns.append(weight[:, c, y, x])
    steps = {step.name.en: step.numbers for step in result.steps}
    np.testing.assert_allclose(steps["flattened, normalised"], flat, atol=1e-5)
    token = reference_tokens.linear(
        np.array(flat), np.array(columns).T, module.patch_embed.proj.bias.detach().double().numpy()
    )
    np.testing.assert_allclose(steps["projected"], token, atol=1e-4)
    np.testing.assert_array_equal(result.patch, captured.input.pixels[row * P : (row + 1) * P, col * P : (col + 1) * P])
    if key in ("vit", "deit_distilled"):
        place = module.pos_embed[0, len(captured.prefix_tokens) + row * grid.cols + col].detach().double().numpy()
        np.testing.assert_allclose(steps["position embedding"], place)
        np.testing.assert_allclose(result.values, token + place, atol=1e-4)
    else:
        assert "position embedding" not in steps


@pytest.mark.parametrize(
    ("key", "formula", "sentence"),
    [
        ("vit", "W x_p + b + e_p", "A learned vector for the place is added."),
        ("clip", "norm(W x_p + b + e_p)", "A learned vector for the place is added."),
        ("beit", "W x_p + b", "adds a bias to its scores"),
        ("dinov3", "W x_p + b", "No position vector is added: every block rotates"),
        ("eva02", "W x_p + b + e_p", "is added, and every block rotates"),
        ("swin", "norm(W x_p + b)", "adds a bias to its scores"),
    ],
)
def test_each_family_says_what_becomes_of_the_place(key, formula, sentence):
    result = vx.compute("patch_to_token", capture_small(key))
    assert result.formula == formula
    assert any(sentence in note.en for note in result.notes)


def test_shapes_by_hand():
    """64 x 64 pixels in 4 x 4 patches of 16, width 48, one class token."""
    steps = vx.compute("patch_to_token", capture_small("vit")).steps
    shapes = [(64, 64, 3), (16, 16, 3), (768,), (48,), (48,), (48,), (17, 48)]
    assert [step.shape for step in steps] == shapes


def test_a_patch_is_picked_on_the_image():
    """The page offers a patch to pick only where there is a list to put it into."""
    captured = capture_small("vit_not_square")
    (control,) = vx.views()["patch_to_token"].controls
    drawn = control.spec(captured, {"patch": (0, 3)})
    assert drawn.board == Board(3, 5, (1, 1))
    assert [value for value, _ in drawn.options] == ["1,0", "0,3"]  # the sharpest edges, and what is chosen
    assert drawn.value == "0,3"


def test_what_is_not_this_way_is_refused(monkeypatch):
    captured = capture_small("vit")
    with pytest.raises(SettingError, match="Only patches are made of pixels"):
        vx.compute("patch_to_token", captured, patch="cls")
    with pytest.raises(UnsupportedError, match="plain run"):
        vx.compute("patch_to_token", vx.intervene(captured, "positions"))
    monkeypatch.setitem(captured.read, 0, captured.read[0] + 1)
    with pytest.raises(UnsupportedError, match="do not reproduce the input of the first block"):
        vx.compute("patch_to_token", captured)


def test_the_figure_shows_the_numbers():
    result = vx.compute("patch_to_token", capture_small("vit"), patch=(3, 0))
    figure = render(result)
    whole, patch = (pixels_of(drawn.source) for drawn in figure.layout.images)
    np.testing.assert_array_equal(whole, result.image)
    np.testing.assert_array_equal(patch[:: patch.shape[0] // 16, :: patch.shape[1] // 16], result.patch)
    strips = [trace for trace in figure.data if trace.type == "heatmap"]
    vectors = [step.numbers for step in result.steps if step.numbers.size]
    assert len(strips) == len(vectors) == 4
    for strip, vector in zip(strips, vectors, strict=True):
        np.testing.assert_array_equal(strip.z[0], vector)
    (sequence,) = (trace for trace in figure.data if trace.type == "bar")
    assert len(sequence.x) == 17
    assert len(set(sequence.marker.color)) == 3
    assert '"difference"' in as_json(result)
