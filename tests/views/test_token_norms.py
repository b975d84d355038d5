"""Norms of tokens against loops, and outliers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import vitexplorer as vx
from tests.helpers import reference_tokens
from tests.helpers.small_models import capture_small
from tests.helpers.unfused_attention import run_explicitly


def test_token_norms(any_capture):
    result = vx.compute("token_norms", any_capture)
    streams = run_explicitly(any_capture.model.module, any_capture.input.tensor).residual_after
    most = max(x.flatten(0, -2).shape[0] for x in streams)
    assert result.values.shape == result.marked.shape == (any_capture.depth, most)
    for row, tokens in zip(result.values, streams, strict=True):
        norms = [reference_tokens.norm(x) for x in tokens.flatten(0, -2)]
        np.testing.assert_allclose(row[: len(norms)], norms, rtol=1e-5)
        assert np.isnan(row[len(norms) :]).all()


def test_outliers_are_marked_and_prefix_tokens_are_not():
    """Make patch 5 of the second block, and the class token, ten times as long."""
    captured = capture_small("vit")
    made = dict(captured.made)
    made[1] = made[1].clone()
    made[1][0, [0, 1 + 5]] *= 10
    before, after = (vx.compute("token_norms", c) for c in (captured, replace(captured, made=made)))
    assert not before.marked.any()
    assert np.argwhere(after.marked).tolist() == [[1, 6]]
    assert after.notes[0].en.endswith(": 1.")
