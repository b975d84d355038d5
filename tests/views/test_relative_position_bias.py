"""Relative position bias of every offset against what the scores receive."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

import vitexplorer as vx
from tests.helpers.position_kinds import RELATIVE
from tests.helpers.small_models import capture_small, load_small
from tests.helpers.unfused_attention import blocks_of
from vitexplorer.capturing.capture import Capture


def pairs(captured: Capture, block: int) -> list[tuple[int, int, int, int]]:
    """Return query, key, row offset and column offset of all pairs in the first window, or the whole grid."""
    windows, grid = captured.site(block).windows, captured.grid(block)
    height, width = windows.window_size if windows else (grid.rows, grid.cols)
    cells = list(product(range(height), range(width)))
    return [(i, j, a - c, b - d) for (i, (a, b)), (j, (c, d)) in product(enumerate(cells), repeat=2)]


@pytest.mark.parametrize("key", RELATIVE)
def test_relative_bias_is_what_the_scores_get(key):
    """Check every pair of the first window of every block: the bias of its offset, query minus key."""
    captured = capture_small(key)
    prefix = len(captured.prefix_tokens)
    for block, part in enumerate(blocks_of(captured.model.module)):
        if captured.site(block).windows and any(captured.site(block).windows.shift_size):
            continue  # the mask comes on top
        call = captured.call(block)
        if call.scores is None:
            bias = call.bias[0]
        else:
            factor = 1.0
            if key.startswith("swinv2"):
                factor = part.attn.logit_scale.detach().clamp(max=math.log(100)).exp()
            bias = (call.scores - factor * (call.query @ call.key.transpose(-2, -1)))[0]
        result = vx.compute("relative_position_bias", captured, block=block)
        heads, rows, cols = result.values.shape
        assert heads == captured.num_heads(block)
        assert (len(result.row_offsets), len(result.col_offsets)) == (rows, cols)
        for i, j, dy, dx in pairs(captured, block):
            actual = result.values[:, result.row_offsets.index(dy), result.col_offsets.index(dx)]
            np.testing.assert_allclose(actual, bias[:, prefix + i, prefix + j], atol=2e-4)


def test_swins_bias_is_its_table():
    module = load_small("swin").module
    table = module.layers[1].blocks[0].attn.relative_position_bias_table
    values = vx.compute("relative_position_bias", capture_small("swin"), block=2).values
    for head, dy, dx in np.ndindex(values.shape):
        assert values[head, dy, dx] == table[dy * values.shape[2] + dx, head]


def test_beit_leaves_out_the_class_token_and_says_so():
    result = vx.compute("relative_position_bias", capture_small("beit"))
    table = load_small("beit").module.blocks[2].attn.relative_position_bias_table
    assert result.values.size == table.numel() - 3 * 3
    assert any("three entries" in note.en for note in result.notes)
