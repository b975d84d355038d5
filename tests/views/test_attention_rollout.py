"""Attention rollout against its slow twin and the published code, by hand, and its conserved sum."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch

import vitexplorer as vx
from tests.helpers import reference
from tests.helpers.small_models import CAPTURES, capture_small
from tests.helpers.thorough import in_turn
from tests.helpers.unfused_attention import run_explicitly
from tests.helpers.windows_and_queries import queries_of, swin_block
from vitexplorer.capturing.capture import AttentionCall, Capture
from vitexplorer.core.shares import SWIN_NOTE
from vitexplorer.core.types import BlockSite, PatchGrid

ROLLOUTS = [("mean", 0.0, 0), ("max", 0.0, 1), ("min", 0.5, 0), ("mean", 0.9, 2)]
SHRUNK = ("swin_padded", "native")
"""Models with windows, padding, and a grid that the stages make smaller"""


def whole_rollout(captured: Capture, fusion: str, ratio: float, start: int) -> np.ndarray:
    """Compute R as a whole matrix from the module's own softmax, in float64."""
    explicit = run_explicitly(captured.model.module, captured.input.tensor)
    attentions = [attention.double().numpy() for attention in explicit.attention]
    if not captured.site(0).windows:
        return reference.rollout([a[0] for a in attentions], fusion, ratio, start, len(captured.prefix_tokens))
    blocks = [swin_block(captured, block, attention) for block, attention in enumerate(attentions)]
    return reference.swin_rollout(blocks, fusion, ratio, start)


@pytest.mark.parametrize(("made", "rollout"), in_turn(CAPTURES, ROLLOUTS, [("deit_distilled", "squash"), SHRUNK]))
def test_rollout(made, rollout):
    captured, (fusion, ratio, start) = capture_small(*made), rollout
    R, p, last = whole_rollout(captured, fusion, ratio, start), len(captured.prefix_tokens), captured.depth - 1
    grid = captured.grid(start)
    for query in queries_of(captured, last):
        if query == "mean":
            row = R[p:].mean(0)
        elif isinstance(query, str):
            row = R[captured.prefix_tokens.index(query)]
        else:
            row = R[p + query[0] * captured.grid(last).cols + query[1]]
        settings = {"head_fusion": fusion, "discard_ratio": ratio, "start_block": start}
        result = vx.compute("attention_rollout", captured, query=query, **settings)
        np.testing.assert_allclose(result.values, row[p:].reshape(grid.rows, grid.cols), atol=1e-5)
        np.testing.assert_allclose(result.prefix_weights, row[:p], atol=1e-5)
        assert result.padding_mass == pytest.approx(1 - row.sum(), abs=1e-5)


@pytest.mark.parametrize("start", range(6))
def test_rollout_of_swin_starts_in_any_stage_and_loses_nothing(start):
    """Swin without padding, two blocks a stage: rows of the slow twin on the stage's grid, with sum 1."""
    captured = capture_small("swin")
    grid, last = captured.grid(start), captured.grid(captured.depth - 1)
    R = whole_rollout(captured, "mean", 0.0, start)
    for query, row in [((1, 2), R[last.cols + 2]), ("mean", R.mean(0))]:
        result = vx.compute("attention_rollout", captured, query=query, start_block=start)
        np.testing.assert_allclose(result.values, row.reshape(grid.rows, grid.cols), atol=1e-5)
        assert result.values.sum() == pytest.approx(1, abs=1e-5)
        assert SWIN_NOTE in result.notes


@pytest.mark.parametrize("key", ["vit", "deit_distilled", "dinov2_registers", "siglip", "beit", "dinov3"])
def test_rollout_is_chefers_from_the_first_layer(key):
    captured = capture_small(key)
    attentions = [captured.attention(b).double().numpy() for b in range(captured.depth)]
    expected, p = reference.chefer_rollout(attentions, start_layer=0), len(captured.prefix_tokens)
    for query in queries_of(captured, 0):
        result = vx.compute("attention_rollout", captured, query=query)
        row = expected[p:].mean(0) if query == "mean" else expected[captured.token(query, 0)]
        np.testing.assert_allclose(result.values.flatten(), row[p:], atol=1e-6)


def with_attention(captured: Capture, *matrices: list[list[float]], cols: int) -> Capture:
    """Return a capture without prefix tokens whose blocks have these attentions, of one head, `cols` wide."""
    calls = []
    for matrix in matrices:
        scores = torch.tensor(matrix, dtype=torch.float32).log()[None, None]
        calls.append((AttentionCall(scores, scores, scores=scores),))
    site = BlockSite("block", PatchGrid(len(matrices[0]) // cols, cols, 16))
    return replace(captured, sites=(site,) * len(matrices), calls=tuple(calls))


def test_rollout_by_hand():
    """By hand: two patches, two blocks that do not commute.

    A_0 = | .5 .5 |   A^_0 = | .75 .25 |   A_1 = | 0  1  |   A^_1 = | .5  .5  |   R = A^_1 A^_0 = | .375  .625  |
          | 0  1  |          | 0   1   |         | .5 .5 |          | .25 .75 |                   | .1875 .8125 |
    """
    captured = with_attention(capture_small("siglip"), [[0.5, 0.5], [0, 1]], [[0, 1], [0.5, 0.5]], cols=2)
    by_query = [((0, 0), [[0.375, 0.625]]), ((0, 1), [[0.1875, 0.8125]]), ("mean", [[0.28125, 0.71875]])]
    for query, expected in by_query:
        np.testing.assert_allclose(vx.compute("attention_rollout", captured, query=query).values, expected, atol=1e-6)
    last = vx.compute("attention_rollout", captured, query=(0, 0), start_block=1)
    np.testing.assert_allclose(last.values, [[0.5, 0.5]], atol=1e-6)


def test_discard_by_hand():
    """By hand: half of the four entries of A are discarded, .1 and .3; the identity is added, then rows are normalised.

    A = | .9 .1 |   kept | .9 0  |   0.5 kept + 0.5 I = | .95 0   |   A^ = | 1     0     |
        | .3 .7 |        | 0  .7 |                      | 0   .85 |        | 0     1     |

    With a quarter only .1 goes, and the second row stays | .15 .85 |.
    """
    captured = with_attention(capture_small("siglip"), [[0.9, 0.1], [0.3, 0.7]], cols=2)
    for ratio, expected in [(0.5, [[0, 1]]), (0.25, [[0.15, 0.85]]), (0.2, [[0.15, 0.85]])]:
        result = vx.compute("attention_rollout", captured, query=(0, 1), discard_ratio=ratio)
        np.testing.assert_allclose(result.values, expected, atol=1e-6)


def test_identity_in_identity_out():
    captured = with_attention(capture_small("siglip"), *[np.eye(6).tolist()] * 3, cols=3)
    for row, col in product(range(2), range(3)):
        values = vx.compute("attention_rollout", captured, query=(row, col)).values
        assert values[row, col] == pytest.approx(1)
        assert values.sum() == pytest.approx(1)


def test_rollout_conserves_mass(any_capture):
    for fusion, ratio in [("mean", 0.0), ("max", 0.3), ("min", 0.9)]:
        for query in queries_of(any_capture, any_capture.depth - 1):
            result = vx.compute("attention_rollout", any_capture, query=query, head_fusion=fusion, discard_ratio=ratio)
            assert result.values.min() >= 0
            assert result.values.sum() + result.prefix_mass + result.padding_mass == pytest.approx(1, abs=1e-5)
            if not any_capture.model.name.endswith("padded") and any_capture.input.fit == "squash":
                assert result.padding_mass == pytest.approx(0, abs=1e-5)


def test_merging_gives_a_quarter_to_each():
    """Four patches merged into one: 2 x 2 -> 1 x 1, with 3 x 3 -> 2 x 2 losing what falls on the padding."""
    np.testing.assert_array_equal(reference.merge_matrix(2, 2), [[0.25, 0.25, 0.25, 0.25]])
    np.testing.assert_array_equal(reference.merge_matrix(3, 3).sum(1), [1, 0.5, 0.5, 0.25])
