"""Cosines of patches against loops."""

from __future__ import annotations

import numpy as np
import pytest

import vitexplorer as vx
from tests.helpers import reference_tokens
from tests.helpers.small_models import capture_small
from tests.helpers.unfused_attention import run_explicitly
from vitexplorer.controls import sharpest_patch
from vitexplorer.core.text import SettingError


def test_patch_similarity(any_capture):
    prefix = len(any_capture.prefix_tokens)
    streams = run_explicitly(any_capture.model.module, any_capture.input.tensor).residual_after
    for block in (0, any_capture.depth - 1):
        grid, tokens = any_capture.grid(block), streams[block].flatten(0, -2).double().numpy()
        row, col = grid.rows - 1, grid.cols // 3
        result = vx.compute("patch_similarity", any_capture, block=block, query=(row, col))
        token = tokens[prefix + row * grid.cols + col]
        expected = [reference_tokens.cosine(token, other) for other in tokens[prefix:]]
        np.testing.assert_allclose(result.values.flatten(), expected, atol=1e-5)
        assert result.values[row, col] == pytest.approx(1, abs=1e-6)


def test_the_class_token_may_be_compared_but_no_mean():
    captured = capture_small("deit_distilled")
    for place, name in enumerate(("cls", "dist")):
        values = vx.compute("patch_similarity", captured, block=1, query=name).values
        tokens = captured.residual_after(1).double().numpy()
        assert values[0, 0] == pytest.approx(reference_tokens.cosine(tokens[place], tokens[2]), abs=1e-5)
    first = sharpest_patch(captured.input.pixels, captured.grid(captured.depth - 1))
    assert vx.compute("patch_similarity", captured).query == first
    with pytest.raises(SettingError, match="This view needs one token"):
        vx.compute("patch_similarity", captured, query="mean")
