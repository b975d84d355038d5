"""Every view says what it is and computes what its slow twin computes."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import product

import numpy as np
import pytest
import torch

import vitexplorer as vx
from tests.helpers import reference
from tests.helpers.expected_refusals import is_refused
from tests.helpers.least_settings import LEAST, cheaply, run_once
from tests.helpers.small_models import CAPTURES, RECIPES, capture_small
from tests.helpers.thorough import always, in_turn, later
from tests.helpers.unfused_attention import run_explicitly
from vitexplorer.capturing.capture import AttentionCall, Capture
from vitexplorer.core.registry import UnknownNameError
from vitexplorer.core.text import SettingError, UnsupportedError
from vitexplorer.core.types import BlockSite, MapResult, PatchGrid, Result
from vitexplorer.quantities.rollout import SWIN_NOTE
from vitexplorer.views import VIEWS
from vitexplorer.views.attention_map import window_of

HEADS = (0, 1, "mean", "max", "min")


def queries_of(captured: Capture, block: int) -> list:
    """Every kind of query that a block has: named tokens, the mean, patches at opposite corners and inside."""
    grid = captured.grid(block)
    named = [name for name in ("cls", "dist") if name in captured.prefix_tokens]
    return [*named, "mean", (0, 0), (grid.rows - 1, grid.cols - 1), (grid.rows // 2, grid.cols // 3)]


def windows_of(captured: Capture, block: int) -> list:
    """The reference's windows of a Swin block."""
    site = captured.site(block)
    return reference.window_positions(site.grid.rows, site.grid.cols, site.windows.window_size, site.windows.shift_size)


def attention_rows(captured: Capture, attention: np.ndarray, query, block: int) -> tuple[np.ndarray, ...]:
    """From the module's own softmax, a query's shares for each head: patches, prefix tokens, padding."""
    grid, p = captured.grid(block), len(captured.prefix_tokens)
    if captured.site(block).windows:
        dense, on_padding = reference.dense_attention(attention, grid.rows, grid.cols, windows_of(captured, block))
    else:
        dense, on_padding = attention[0], np.zeros(attention.shape[1:3])
    if query == "mean":
        row, padding = dense[:, p:].mean(1), on_padding[:, p:].mean(1)
    else:
        token = captured.prefix_tokens.index(query) if isinstance(query, str) else p + query[0] * grid.cols + query[1]
        row, padding = dense[:, token], on_padding[:, token]
    return row[:, p:], row[:, :p], padding


# ------------------------------------------------------------------------------------------------ attention


def test_attention_map_and_head_gallery(any_capture, thorough):
    """Every head of every query in the gallery, and one map of each query in turn."""
    explicit = run_explicitly(any_capture.model.module, any_capture.input.tensor)
    for block, softmax in enumerate(explicit.attention):
        grid = any_capture.grid(block)
        for n, query in enumerate(queries_of(any_capture, block), block):
            parts = attention_rows(any_capture, softmax.double().numpy(), query, block)
            gallery = vx.compute("head_gallery", any_capture, block=block, query=query)
            assert gallery.values.shape == (any_capture.num_heads(block), grid.rows, grid.cols)
            np.testing.assert_allclose(gallery.values.reshape(len(parts[0]), -1), parts[0], atol=1e-5)
            np.testing.assert_allclose(gallery.prefix_weights, parts[1], atol=1e-5)
            np.testing.assert_allclose(gallery.padding_mass, parts[2], atol=1e-5)
            for head in HEADS if thorough else HEADS[n % len(HEADS) :][:1]:
                result = vx.compute("attention_map", any_capture, block=block, head=head, query=query)
                on_patches, on_prefix, on_padding = (reference.fused(part, head) for part in parts)
                np.testing.assert_allclose(result.values, on_patches.reshape(grid.rows, grid.cols), atol=1e-5)
                np.testing.assert_allclose(result.prefix_weights, on_prefix, atol=1e-5)
                assert result.prefix_mass == pytest.approx(on_prefix.sum(), abs=1e-5)
                assert result.padding_mass == pytest.approx(float(on_padding), abs=1e-5)


def test_mean_over_heads_gives_all_it_has(any_capture):
    for query in queries_of(any_capture, 0):
        result = vx.compute("attention_map", any_capture, block=0, query=query)
        assert result.values.sum() + result.prefix_mass + result.padding_mass == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("key", [key for key in RECIPES if key.startswith("swin")])
def test_window_outline_holds_exactly_what_the_query_can_look_at(key):
    captured = capture_small(key)
    for block in range(captured.depth):
        grid, windows = captured.grid(block), windows_of(captured, block)
        for row, col in product(range(grid.rows), range(grid.cols)):
            (cells,) = (cells for cells in windows if (row, col) in cells)
            top, left, height, width = window_of((row, col), grid, captured.site(block).windows)
            outlined = {
                ((top + r) % grid.rows, (left + c) % grid.cols) for r, c in product(range(height), range(width))
            }
            assert outlined == {cell for cell in cells if cell is not None}


# ------------------------------------------------------------------------------------------------ rollout

ROLLOUTS = [("mean", 0.0, 0), ("max", 0.0, 1), ("min", 0.5, 0), ("mean", 0.9, 2)]
SHRUNK = ("swin_padded", "native")
"""windows, padding, and a grid that the stages make smaller"""


def whole_rollout(captured: Capture, fusion: str, ratio: float, start: int) -> np.ndarray:
    """R as a whole matrix, from the module's own softmax, in float64."""
    explicit = run_explicitly(captured.model.module, captured.input.tensor)
    attentions = [attention.double().numpy() for attention in explicit.attention]
    if not captured.site(0).windows:
        return reference.rollout([a[0] for a in attentions], fusion, ratio, start, len(captured.prefix_tokens))
    blocks = [
        {
            "attention": attention,
            "rows": captured.grid(b).rows,
            "cols": captured.grid(b).cols,
            "windows": windows_of(captured, b),
        }
        for b, attention in enumerate(attentions)
    ]
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
        result = vx.compute(
            "attention_rollout",
            captured,
            query=query,
            head_fusion=fusion,
            discard_ratio=ratio,
            start_block=start,
        )
        np.testing.assert_allclose(result.values, row[p:].reshape(grid.rows, grid.cols), atol=1e-5)
        np.testing.assert_allclose(result.prefix_weights, row[:p], atol=1e-5)
        assert result.padding_mass == pytest.approx(1 - row.sum(), abs=1e-5)


@pytest.mark.parametrize("start", range(6))
def test_rollout_of_swin_starts_in_any_stage_and_loses_nothing(start):
    """Two blocks a stage and no padding: the rows of the slow twin, on the grid of the stage, adding up to 1."""
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
        if query == "mean":
            row = expected[p:].mean(0)
        else:
            row = expected[captured.token(query, 0)]
        np.testing.assert_allclose(result.values.flatten(), row[p:], atol=1e-6)


def with_attention(captured: Capture, *matrices: list[list[float]], cols: int) -> Capture:
    """The capture of a model without prefix tokens whose blocks have these attentions, of one head, `cols` wide."""
    calls = []
    for matrix in matrices:
        scores = torch.tensor(matrix, dtype=torch.float32).log()[None, None]
        calls.append((AttentionCall(scores, scores, scores=scores),))
    site = BlockSite("block", PatchGrid(len(matrices[0]) // cols, cols, 16))
    return replace(captured, sites=(site,) * len(matrices), calls=tuple(calls))


def test_rollout_by_hand():
    """Two patches, two blocks that do not commute.

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
    """Half of the four entries of A are discarded, .1 and .3; the rows are normalised after the identity is added.

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


# ------------------------------------------------------------------------------------------------ patches


def test_patch_grid(any_capture):
    grid = any_capture.grid(0)
    result = vx.compute("patch_grid", any_capture)
    assert result.values.dtype == np.uint8
    expected = reference.patches(any_capture.input.pixels, grid.rows, grid.cols, grid.patch_size)
    np.testing.assert_array_equal(result.values, expected)


# ------------------------------------------------------------------------------------------------ the contract

ATTENTION_VIEWS = ("attention_map", "head_gallery", "attention_rollout", "patch_grid")


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_says_what_it_is(view):
    record = VIEWS[view]
    texts = [record.title, record.question, record.misleads, *(control.label for control in record.controls)]
    for text in texts:
        assert text.en.strip()
        assert text.zh.strip()
    assert record.question.en.endswith("?")
    assert len({control.name for control in record.controls}) == len(record.controls)
    if record.paper:
        assert record.paper.url.startswith("https://")


MADE = [*product(RECIPES, ["squash"]), *product(["vit", "dinov3", "swin_padded"], ["native"])]
TWICE = ("vit", "deit_distilled", "registers_only", "encoder", "swin_padded")
"""two kinds of prefix tokens, none, no class token, no classifier, windows: where an answer is asked for again"""


@pytest.mark.contract
@pytest.mark.parametrize(
    ("view", "made"),
    [
        always(view, made) if view in run_once() or made[0] in TWICE else later(view, made)
        for view, made in product(VIEWS, MADE)
    ],
)
def test_a_view_answers_or_says_why_not(view, made, thorough):
    captured = capture_small(*made)
    reason = VIEWS[view].refuses(captured)
    assert (reason is not None) == is_refused(view, made[0]), "refusals are stated in tests/helpers/refused.py"
    if reason is not None:
        assert reason.en.endswith(".")
        with pytest.raises(UnsupportedError):
            vx.compute(view, captured)
        return
    result = cheaply(view, captured)
    assert isinstance(result, Result)
    assert result.view == view
    assert len(result.axes) == result.values.ndim
    assert np.isfinite(result.values).all() or any("(NaN)" in note.en for note in result.notes)
    assert not np.isinf(result.values).any()
    assert set(result.settings) == {control.name for control in VIEWS[view].controls}
    assert result.provenance.model == captured.model.name
    assert result.provenance.is_random
    assert result.provenance.input_size == captured.input.pixels.shape[:2]
    assert not [f.name for f in fields(result) if isinstance(getattr(result, f.name), torch.Tensor)]
    if isinstance(result, MapResult):
        assert result.values.shape == (result.grid.rows, result.grid.cols)
    if thorough or (made[0] in TWICE and VIEWS[view].runs != "many"):
        again = vx.compute(view, captured, **result.settings)
        np.testing.assert_array_equal(again.values, result.values)


@pytest.mark.parametrize("view", LEAST)
def test_a_view_that_is_asked_for_less_answers_what_it_offers_first(view):
    result = vx.compute(view, capture_small("vit"))
    assert np.isfinite(result.values).all()
    assert all(result.settings[name] != value for name, value in LEAST[view].items())


@pytest.mark.parametrize("view", ATTENTION_VIEWS)
def test_the_network_does_not_run_again(view, monkeypatch):
    captured = capture_small("deit_distilled")
    monkeypatch.setattr(captured.model.module, "forward", None)
    vx.compute(view, captured)


# ------------------------------------------------------------------------------------------------ sentences


def sentence(error: type[Exception], view: str, key: str = "vit", **settings) -> str:
    """What a person reads who asked for this."""
    with pytest.raises(error) as raised:
        vx.compute(view, capture_small(key), **settings)
    return str(raised.value)


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (("atention_rollout", {}), "Unknown view 'atention_rollout'. Did you mean 'attention_rollout'?"),
        (("attention_map", {"haed": 1}), "Unknown setting 'haed'. Did you mean 'head'?"),
        (("attention_map", {"head": "maen"}), "Unknown head or fusion 'maen'. Did you mean 'mean'?"),
        (("attention_map", {"query": "clss"}), "Unknown query 'clss'. Did you mean 'cls'?"),
        (("attention_rollout", {"head_fusion": "median"}), "Unknown head_fusion 'median'. Did you mean 'mean'?"),
        (("patch_grid", {"block": 1}), "Unknown setting 'block'."),
    ],
    ids=str,
)
def test_an_unknown_name_is_answered_with_the_nearest(request_, expected):
    view, settings = request_
    assert sentence(UnknownNameError, view, **settings).startswith(expected)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"block": 3}, "There is no block 3: this model has blocks 0 to 2."),
        ({"block": -1}, "There is no block -1: this model has blocks 0 to 2."),
        ({"block": "last"}, "block must be a whole number, not 'last'."),
        ({"block": 1.5}, "block must be a whole number, not 1.5."),
        ({"block": float("nan")}, "block must be a whole number, not nan."),
        ({"block": float("inf")}, "block must be a whole number, not inf."),
        ({"head": 3}, "There is no head 3: block 2 has heads 0 to 2."),
        ({"head": "-1"}, "There is no head -1: block 2 has heads 0 to 2."),
        ({"query": (4, 0)}, "There is no patch (4, 0): the grid has rows 0 to 3 and columns 0 to 3."),
        ({"query": (0, -1)}, "There is no patch (0, -1): the grid has rows 0 to 3 and columns 0 to 3."),
        ({"query": "7,7"}, "There is no patch (7, 7): the grid has rows 0 to 3 and columns 0 to 3."),
        ({"query": "1,x"}, "col must be a whole number, not 'x'."),
        ({"query": 5}, 'query must be "cls", "dist", "mean" or (row, col), not 5.'),
        ({"query": (1, 2, 3)}, 'query must be "cls", "dist", "mean" or (row, col), not (1, 2, 3).'),
        ({"query": "dist"}, 'This model has no distillation token, so there is no query "dist".'),
    ],
    ids=str,
)
def test_a_wrong_value_is_answered_with_the_rule(settings, expected):
    assert sentence(SettingError, "attention_map", **settings).startswith(expected)


@pytest.mark.parametrize("ratio", [1, 1.5, -0.1, float("nan"), float("inf")])
def test_discard_ratio_is_below_one(ratio):
    text = sentence(SettingError, "attention_rollout", discard_ratio=ratio)
    assert text == f"discard_ratio must be from 0 to below 1, not {ratio:g}."


@pytest.mark.parametrize("ratio", [b"0", bytearray(b"0"), "half"])
def test_discard_ratio_is_a_number(ratio):
    text = sentence(SettingError, "attention_rollout", discard_ratio=ratio)
    assert text == f"discard_ratio must be a number, not {ratio!r}."


@pytest.mark.parametrize("key", ["siglip", "swin", "registers_only"])
def test_no_class_token_names_the_mean(key):
    for view in ("attention_map", "head_gallery", "attention_rollout"):
        text = sentence(SettingError, view, key, query="cls")
        assert text == 'This model has no class token, so there is no query "cls". Use "mean" or (row, col).'
        assert vx.compute(view, capture_small(key)).query == "mean"  # what it is when nobody says


def test_values_from_an_address_are_read():
    captured = capture_small("vit")
    typed = vx.compute("attention_map", captured, block="1", head="2", query="3,1")
    plain = vx.compute("attention_map", captured, block=1, head=2, query=(3, 1))
    assert typed.settings == plain.settings == {"block": 1, "head": 2, "query": (3, 1)}
    np.testing.assert_array_equal(typed.values, plain.values)


@pytest.mark.parametrize("steps", [10**400, "9" * 400, -(10**400)])
def test_a_number_that_no_float_holds_is_answered_with_a_sentence(steps):
    with pytest.raises(SettingError, match="whole number"):
        vx.compute("integrated_gradients", capture_small("vit"), steps=steps)
