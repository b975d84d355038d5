"""Metrics of heads and the steps of one head's attention against their slow twins."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

import vitexplorer as vx
from tests.helpers import reference, reference_tokens
from tests.helpers.small_models import CAPTURES, RECIPES, capture_small
from tests.helpers.thorough import in_turn
from tests.helpers.unfused_attention import blocks_of, run_explicitly
from tests.helpers.windows_and_queries import queries_of, windows_of
from vitexplorer.capturing.capture import AttentionCall, Capture
from vitexplorer.core.text import SettingError, UnsupportedError
from vitexplorer.core.types import BlockSite, PatchGrid
from vitexplorer.views.head_atlas import METRICS


def cells_of(captured: Capture, block: int) -> list[list[reference_tokens.Cell]]:
    """Return the kind of each token of each window, from the paper's windows and the recipe's prefix tokens."""
    grid = captured.grid(block)
    if captured.site(block).windows:
        return windows_of(captured, block)
    patches = [(row, col) for row in range(grid.rows) for col in range(grid.cols)]
    return [[*RECIPES[captured.model.name].prefix_tokens, *patches]]


# ------------------------------------------------------------------------------------------------ one number a head


def expected_table(captured: Capture, metric: str) -> np.ndarray:
    """Compute the slow twin for every block; NaN where a block has fewer heads."""
    explicit = run_explicitly(captured.model.module, captured.input.tensor)
    rows = [
        reference_tokens.of_heads(metric, A.double().numpy(), cells_of(captured, b), captured.grid(b).patch_size)
        for b, A in enumerate(explicit.attention)
    ]
    table = np.full((len(rows), max(map(len, rows))), np.nan)
    for b, row in enumerate(rows):
        table[b, : len(row)] = row
    return table


WHOLE = [("deit_distilled", "squash"), ("dinov2_registers", "native"), ("siglip", "squash"), ("swin_padded", "native")]
"""Models with two prefix tokens, registers, no prefix token, and windows with padding"""


@pytest.mark.parametrize(("made", "normalise"), in_turn(CAPTURES, ["raw", "renormalised"], WHOLE))
def test_attention_distance(made, normalise):
    captured = capture_small(*made)
    result = vx.compute("attention_distance", captured, normalise=normalise)
    np.testing.assert_allclose(result.values, expected_table(captured, normalise), rtol=1e-5)


@pytest.mark.parametrize(("made", "metric"), in_turn(CAPTURES, METRICS, WHOLE))
def test_head_atlas(made, metric):
    captured = capture_small(*made)
    if metric == "class_mass" and "cls" not in captured.prefix_tokens:
        with pytest.raises(SettingError, match=r"has no class token, so there is no mass on it\."):
            vx.compute("head_atlas", captured, metric=metric)
        return
    result = vx.compute("head_atlas", captured, metric=metric)
    np.testing.assert_allclose(result.values, expected_table(captured, metric), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("key", "masses"), [("vit", {"class_mass"}), ("swin", set())])
def test_the_mass_on_the_class_token_is_offered_where_there_is_one(key, masses):
    metric = vx.views()["head_atlas"].controls[0].spec(capture_small(key))
    assert {name for name, _ in metric.options} == METRICS.keys() - {"class_mass"} | masses


def test_a_few_rows_at_a_time_are_all_rows(monkeypatch):
    for key in ("deit_distilled", "swin_padded"):
        captured = capture_small(key)
        whole = {metric: vx.compute("head_atlas", captured, metric=metric).values for metric in ("distance", "entropy")}
        selves = vx.compute("head_atlas", captured, metric="self_mass").values
        monkeypatch.setattr("vitexplorer.tracing.attention_call.WEIGHTS_AT_ONCE", 1)  # one query at a time
        for metric, values in {**whole, "self_mass": selves}.items():
            again = vx.compute("head_atlas", replace(captured), metric=metric).values
            np.testing.assert_allclose(again, values, rtol=1e-6)
        monkeypatch.undo()


def test_two_views_show_distances_that_are_computed_once(monkeypatch):
    captured = replace(capture_small("vit"))
    first = vx.compute("attention_distance", captured).values
    first_copy = first.copy()
    first[:] = 0.0  # a result is its owner's
    monkeypatch.setattr(AttentionCall, "in_pieces", lambda _call: pytest.fail("computed again"))
    np.testing.assert_array_equal(vx.compute("head_atlas", captured, metric="distance").values, first_copy)


def uniform(rows: int, cols: int, size: int) -> Capture:
    """Return a capture whose only block has one uniform head, with one class token."""
    tokens = 1 + rows * cols
    zeros = torch.zeros(1, 1, tokens, tokens)
    site = BlockSite("block", PatchGrid(rows, cols, size, 1))
    return replace(capture_small("vit"), sites=(site,), calls=((AttentionCall(zeros, zeros, scores=zeros),),))


@pytest.mark.parametrize(("normalise", "pixels"), [("raw", 115.90), ("renormalised", 116.49)])
def test_distance_of_uniform_attention(normalise, pixels):
    """14 x 14 patches of 16 pixels and a class token: the two numbers in use."""
    result = vx.compute("attention_distance", uniform(14, 14, 16), normalise=normalise)
    assert result.values.shape == (1, 1)
    assert result.values[0, 0] == pytest.approx(pixels, abs=0.005)


def test_atlas_of_uniform_attention():
    captured = uniform(3, 4, 16)
    expected = {"entropy": math.log(13), "class_mass": 1 / 13, "prefix_mass": 1 / 13, "self_mass": 1 / 13}
    for metric, number in {**expected, "peak": 1 / 13}.items():
        result = vx.compute("head_atlas", captured, metric=metric)
        assert result.values[0, 0] == pytest.approx(number)
    assert vx.compute("head_atlas", captured, metric="entropy").relative[0, 0] == pytest.approx(1)


def test_distance_by_hand():
    """Two patches of 8 pixels side by side: each gives a quarter to the other, half to the class token.

    A = | 1   0   0  |   raw: mean of .25 * 8 and .25 * 8 = 2    renormalised: .25 / .5 * 8 = 4
        | .5 .25 .25 |
        | .5 .25 .25 |
    """
    scores = torch.tensor([[1, 0, 0], [0.5, 0.25, 0.25], [0.5, 0.25, 0.25]]).log()[None, None]
    captured = replace(uniform(1, 2, 8), calls=((AttentionCall(scores, scores, scores=scores),),))
    assert vx.compute("attention_distance", captured).values[0, 0] == pytest.approx(2)
    assert vx.compute("attention_distance", captured, normalise="renormalised").values[0, 0] == pytest.approx(4)


def test_entropy_is_at_most_that_of_uniform_attention(any_capture):
    relative = vx.compute("head_atlas", any_capture, metric="entropy").relative
    assert np.nanmin(relative) > 0
    assert np.nanmax(relative) <= 1 + 1e-6


def test_a_swin_head_looks_no_further_than_its_window():
    captured = capture_small("swin")
    distances = vx.compute("attention_distance", captured, normalise="renormalised").values
    for block in range(captured.depth):
        height, width = captured.site(block).windows.window_size
        diagonal = captured.grid(block).patch_size * math.hypot(height - 1, width - 1)
        assert np.nanmax(distances[block]) < diagonal


def test_heads_that_a_block_does_not_have_are_nan_with_a_note():
    result = vx.compute("head_atlas", capture_small("swin"))
    assert [int(np.isfinite(row).sum()) for row in result.values] == [2, 2, 3, 3, 4, 4]
    assert any("(NaN)" in note.en for note in result.notes)
    assert not any("(NaN)" in note.en for note in vx.compute("head_atlas", capture_small("vit")).notes)


# ------------------------------------------------------------------------------------------------ one query


def places(captured: Capture, block: int) -> list:
    """Return the queries of a block that are one token."""
    return [query for query in queries_of(captured, block) if query != "mean"]


def test_scaled_dot_product_steps(any_capture):
    """Each step follows from the one before, and the last is what the module's own softmax gave."""
    explicit = run_explicitly(any_capture.model.module, any_capture.input.tensor)
    for block in range(any_capture.depth):
        cells, head = cells_of(any_capture, block), any_capture.num_heads(block) - 1
        names = [["padding" if c is None else c if isinstance(c, str) else f"{c[0]},{c[1]}" for c in w] for w in cells]
        for query in places(any_capture, block):
            result = vx.compute("scaled_dot_product", any_capture, block=block, head=head, query=query)
            (window, token) = next((w, t) for w, window in enumerate(cells) for t, c in enumerate(window) if c == query)
            assert list(result.keys) == names[window]
            scores = [reference_tokens.dot(result.query_vector, key) for key in result.key_vectors]
            np.testing.assert_allclose(result.scores, scores, rtol=1e-4, atol=1e-4)
            np.testing.assert_allclose(result.scaled, result.scale * np.array(scores), rtol=1e-4, atol=1e-4)
            weights = reference_tokens.softmax(result.scaled.astype(float) + result.bias)
            np.testing.assert_allclose(result.values, weights, atol=1e-5)
            np.testing.assert_allclose(result.values, explicit.attention[block][window, head, token], atol=1e-5)
            output = sum(w * v for w, v in zip(weights, result.value_vectors.astype(float), strict=True))
            np.testing.assert_allclose(result.output, output, atol=1e-5)
            part = slice(head * len(output), (head + 1) * len(output))
            np.testing.assert_allclose(result.output, explicit.product[block][window, token, part], atol=2e-5)


@pytest.mark.parametrize("mask", ["on", "off"])
def test_no_token_of_a_decoder_looks_ahead(any_capture, mask):
    """Masking scores before the softmax is the same as sharing out anew what is left: exp(-inf) = 0."""
    if any_capture.site(0).windows:
        with pytest.raises(UnsupportedError, match="no token sees the whole sequence"):
            vx.compute("causal_attention", any_capture, mask=mask)
        return
    explicit, block = run_explicitly(any_capture.model.module, any_capture.input.tensor), any_capture.depth - 1
    plain = explicit.attention[block][0, 1].double().numpy()
    expected, ahead = reference.causal(plain) if mask == "on" else plain, np.triu(np.ones(plain.shape, bool), 1)
    for query in places(any_capture, block):
        result = vx.compute("causal_attention", any_capture, block=block, head=1, query=query, mask=mask)
        np.testing.assert_allclose(result.values, expected, atol=1e-5)
        np.testing.assert_allclose(result.values.sum(-1), 1, rtol=1e-5)
        assert (result.values[ahead] == 0).all() == (mask == "on")
        assert result.sequence[result.at] == query
        assert list(result.sequence) == cells_of(any_capture, block)[0]


def test_scale_is_that_of_the_family(any_capture):
    for block, part in enumerate(blocks_of(any_capture.model.module)):
        result = vx.compute("scaled_dot_product", any_capture, block=block, head=1)
        if any_capture.model.name.startswith("swinv2"):
            assert result.scale == pytest.approx(min(math.exp(part.attn.logit_scale[1].item()), 100))
            assert np.abs(result.scores).max() <= 1 + 1e-6  # cosines
        else:
            assert result.scale == pytest.approx(len(result.query_vector) ** -0.5)


@torch.no_grad()
@pytest.mark.parametrize("key", ["vit", "swin", "beit"])
def test_query_and_keys_are_the_projections(key):
    """Compute q and k of head 1 from the weights of the first block, before any scaling."""
    captured = capture_small(key)
    block, x = blocks_of(captured.model.module)[0], captured.residual(0)
    projected, heads = block.attn.qkv(block.norm1(x)), captured.num_heads(0)
    if key == "beit":  # its biases are apart
        projected += torch.cat([block.attn.q_bias, block.attn.k_bias, block.attn.v_bias])
    q, k, _ = projected.view(len(x), 3, heads, -1)[:, :, 1].unbind(1)
    result = vx.compute("scaled_dot_product", captured, block=0, head=1, query=(1, 2))
    prefix, cols = len(captured.prefix_tokens), captured.grid(0).cols
    np.testing.assert_allclose(result.query_vector, q[prefix + cols + 2], atol=1e-5)
    for name, vector in zip(result.keys, result.key_vectors, strict=True):
        row, col = map(int, name.split(",")) if "," in name else (0, 0)
        token = prefix + row * cols + col if "," in name else captured.prefix_tokens.index(name)
        np.testing.assert_allclose(vector, k[token], atol=1e-5)


def test_masked_pairs_of_a_shifted_window_are_in_the_bias():
    """The last window of a shifted block holds cells from opposite edges, which do not see each other."""
    captured = capture_small("swin")
    assert captured.site(1).windows.shift_size == (2, 2)
    result = vx.compute("scaled_dot_product", captured, block=1, query=(captured.grid(1).rows - 1, 7))
    hidden = result.bias < -50
    across = [int(key.split(",")[0]) < 2 for key in result.keys]
    assert hidden.tolist() == across
    assert result.values[hidden].max() < 1e-6


def test_histogram_holds_every_pair(any_capture):
    result = vx.compute("scaled_dot_product", any_capture, block=0)
    assert result.all_scores.sum() == any_capture.attention(0).numel() // any_capture.num_heads(0)
    assert len(result.bin_edges) == len(result.all_scores) + 1
    assert result.bin_edges[0] <= result.scores.min() + 1e-4
    assert result.bin_edges[-1] >= result.scores.max() - 1e-4
    assert result.score_variance > 0


def test_scaling_undoes_the_variance_of_a_dot_product():
    """With components of variance 1, q . k has variance d, and d scale^2 = 1."""
    q, k = torch.randn(2, 1, 1, 17, 64, generator=torch.Generator().manual_seed(0))
    captured = capture_small("vit")
    call = AttentionCall(q[None, 0], k[None, 0], torch.zeros(1, 1, 17, 64), scale=64**-0.5)
    result = vx.compute("scaled_dot_product", replace(captured, calls=((call,),) * 3), head=0)
    assert result.score_variance == pytest.approx(64, rel=0.25)
    assert result.score_variance * result.scale**2 == pytest.approx(1, rel=0.25)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"query": "mean"}, "This view needs one token"),
        ({"head": 7}, "There is no head 7: block 2 has heads 0 to 2."),
        ({"query": (9, 9)}, "There is no patch (9, 9)"),
    ],
    ids=str,
)
def test_one_query_of_one_head(settings, expected):
    with pytest.raises(SettingError) as raised:
        vx.compute("scaled_dot_product", capture_small("vit"), **settings)
    assert str(raised.value).startswith(expected)
