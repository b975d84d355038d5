"""Logit lens: the last block gives the logits; one token and all patches against loops."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import vitexplorer as vx
from tests.helpers import reference_tokens
from tests.helpers.reference_tokens import read_slowly
from tests.helpers.small_models import capture_small
from vitexplorer.core.registry import UnknownNameError
from vitexplorer.core.text import SettingError, UnsupportedError

PLAIN = ["vit", "clip", "dinov2_registers", "registers_only", "eva", "dinov3"]
"""Models with a LayerNorm as last norm and a linear classifier"""


def test_the_lens_ends_at_the_logits(any_capture):
    if not any_capture.model.num_classes:
        with pytest.raises(UnsupportedError, match=r"has no classifier to read its tokens with\."):
            vx.compute("logit_lens", any_capture)
        return
    result = vx.compute("logit_lens", any_capture, token="own")
    assert result.blocks[-1] == any_capture.depth - 1
    np.testing.assert_array_equal(result.values[-1], any_capture.logits)
    np.testing.assert_allclose(result.probabilities.sum(-1), 1)


@pytest.mark.parametrize("key", PLAIN)
def test_lens_of_one_token_and_of_patches(key):
    captured = capture_small(key)
    module, prefix, grid = captured.model.module, len(captured.prefix_tokens), captured.grid(0)
    patches = vx.compute("logit_lens", captured, token="patches")
    assert patches.values.dtype == np.int64
    for block in range(captured.depth):
        tokens = captured.residual_after(block).double().numpy()
        if "cls" in captured.prefix_tokens:
            values = vx.compute("logit_lens", captured, token="cls").values
            np.testing.assert_allclose(values[block], read_slowly(module, tokens[0]), atol=1e-4)
        for row, col in product(range(grid.rows), range(grid.cols)):
            logits = read_slowly(module, tokens[prefix + row * grid.cols + col])
            assert patches.values[block, row, col] == int(np.argmax(logits))
            probability = reference_tokens.softmax(logits).max()
            assert patches.probabilities[block, row, col] == pytest.approx(probability, abs=1e-5)


def test_every_block_has_its_own_statistics():
    """Tokens twice as long give the same logits, as the norm is a LayerNorm."""
    captured = capture_small("vit")
    longer = replace(captured, made={block: 2 * made for block, made in captured.made.items()})
    before, after = (vx.compute("logit_lens", c, token="cls").values for c in (captured, longer))
    np.testing.assert_allclose(before, after, atol=1e-4)


def test_lens_of_swin_is_of_its_last_stage():
    result = vx.compute("logit_lens", capture_small("swin"), token="patches")
    assert result.blocks == (4, 5)
    assert result.values.shape == (2, 4, 4)
    assert any("blocks 4 to 5" in note.en for note in result.notes)


def test_a_reading_that_was_not_trained_gets_a_note():
    notes = [note.en for note in vx.compute("logit_lens", capture_small("dinov3"), token="cls").notes]
    assert "The model was trained to be read by: mean over patches." in notes
    notes = [note.en for note in vx.compute("logit_lens", capture_small("dinov3"), token="mean").notes]
    assert not any("trained" in note for note in notes)


def test_readings_that_a_model_does_not_have():
    with pytest.raises(SettingError, match=r'This model has no class token\. Read it through "mean"'):
        vx.compute("logit_lens", capture_small("siglip"), token="cls")
    with pytest.raises(UnknownNameError, match="Did you mean 'patches'"):
        vx.compute("logit_lens", capture_small("siglip"), token="patch")
    assert vx.compute("logit_lens", capture_small("siglip")).settings == {"token": "mean"}
