"""Activation patching against a slow twin with hooks on a copy, one patch and one run at a time."""

from __future__ import annotations

import copy
import re

import numpy as np
import pytest
import torch

import vitexplorer as vx
from tests.helpers.small_models import capture_small
from vitexplorer.core.text import UnsupportedError
from vitexplorer.quantities.perturbation import baseline_image
from vitexplorer.views.activation_patching import middle_half

TARGET = 3


@pytest.mark.parametrize("key", ["vit_not_square", "eva02", "norm_last"])
def test_it_is_the_network_with_one_token_exchanged_at_each_entry(key):
    captured = capture_small(key)
    twin, grid, neutral = copy.deepcopy(captured.model.module), captured.grid(0), baseline_image(captured, "blur")
    entering, token = {}, None

    def note(block, inputs):
        if token is None:
            entering[block] = inputs[0].clone()
            return None
        stream = inputs[0].clone()
        stream[0, token] = entering[block][0, token]
        return (stream, *inputs[1:])

    for block in list(twin.blocks)[0:2]:  # the middle half of three blocks: 0 and 1
        block.register_forward_pre_hook(note)
    expected = np.zeros(grid.num_patches)
    with torch.no_grad():
        before = captured.model.module(neutral)[0, TARGET]
        twin(captured.input.tensor)
        for patch in range(grid.num_patches):
            token = grid.num_prefix_tokens + patch
            expected[patch] = float(twin(neutral)[0, TARGET] - before)
    result = vx.compute("activation_patching", captured, target=TARGET, baseline="blur")
    np.testing.assert_allclose(result.values.ravel(), expected, atol=2e-5)
    assert "blocks 0 to 1" in result.notes[-1].en


def test_the_middle_half_of_the_blocks():
    assert [list(middle_half(depth)) for depth in (1, 2, 3, 4)] == [[0], [0], [0, 1], [1, 2]]
    assert middle_half(12) == range(3, 9)


def test_a_similarity_is_explained_and_the_capture_is_left_alone():
    captured = capture_small("encoder")
    before = captured.residual(1).clone()
    result = vx.compute("activation_patching", captured, target="patch 0,1")
    assert result.values.any()
    assert torch.equal(captured.residual(1), before)


def test_windows_are_refused():
    with pytest.raises(UnsupportedError, match=re.escape("merges its tokens between stages. Use occlusion.")):
        vx.compute("activation_patching", capture_small("swin"))
