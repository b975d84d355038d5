"""Interventions: a changed run follows its definition, changes nothing else, and leaves no trace."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from importlib import import_module

import numpy as np
import pytest
import torch

import vitexplorer as vx
from tests.helpers import reference_interventions as twin
from tests.helpers.every_case import check_every
from tests.helpers.long_token import planted
from tests.helpers.small_families import capture_case
from tests.helpers.small_models import CAPTURES, RECIPES, attention_outputs, capture_small, load_small, picture
from tests.helpers.thorough import in_turn
from tests.helpers.traces import fail_midway, traces
from tests.helpers.tried_changes import TRIED, is_refused
from tests.helpers.unfused_attention import blocks_of, with_fused_attention
from tests.helpers.waiting import at_once
from vitexplorer.capturing.capture import Capture, capture, capture_input
from vitexplorer.core.registry import UnknownNameError
from vitexplorer.core.text import SettingError, UnsupportedError
from vitexplorer.interventions import INTERVENTIONS, read_changes, settled, write_changes
from vitexplorer.interventions.changed_pass import Effect
from vitexplorer.interventions.heads_off import averaged, silenced
from vitexplorer.interventions.shift_image import shifted
from vitexplorer.interventions.shuffle_patches import rearranged, shuffled_order
from vitexplorer.interventions.top_k import keep_highest

NOTHING = [
    "",
    "heads_off:heads=",
    "top_k:k=256",
    "temperature:temperature=1",
    "mask_patches:patches=",
    "shift_image:right=0",
    "heads_off:heads=,how=mean;mask_patches:patches=,how=attention;top_k:k=200",
]
WHOLE = [
    ("vit", "squash"),
    ("deit_distilled", "native"),
    ("beit", "squash"),
    ("swin_padded", "native"),
    ("dinov3", "squash"),
]
"""Models for all changes: one and two prefix tokens, an added bias, windows and padding, rotated positions"""
COLUMNAR = ["vit", "deit_distilled", "dinov2_registers", "siglip", "beit", "eva02", "dinov3", "rope_mixed", "parallel"]
NO_BIAS = [key for key in COLUMNAR if key != "beit"]


def close(found: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(found, expected.to(found), rtol=0, atol=2e-5 * max(1.0, float(expected.abs().max())))


def check_fused_or_not(captured: Capture, changes: str, again: Capture) -> None:
    """Compare a changed run with those of the network with and without fused attention."""
    for fused in (True, False):
        model = replace(captured.model, module=with_fused_attention(captured.model.module, fused))
        same = vx.intervene(capture_input(model, captured.input), changes)
        close(same.output, again.output)
        for block in range(again.depth):
            close(same.attention(block), again.attention(block))


# ------------------------------------------------------------------------------------------------ refusals


def effects_of(captured: Capture, changes: str) -> list[Effect]:
    """Return the checks of `intervene` before it runs the network."""
    return [INTERVENTIONS[name].effect(captured, **chosen) for name, chosen in settled(captured, changes).items()]


@pytest.mark.contract
def test_each_refusal_is_stated(any_capture):
    def check(changes: str) -> None:
        if is_refused(any_capture, changes):
            with pytest.raises((UnsupportedError, SettingError)):
                effects_of(any_capture, changes)
        else:
            assert effects_of(any_capture, changes)

    check_every({changes: changes for changes in TRIED}, check)


def test_without_captured_attention_only_pixels_can_be_changed():
    captured = capture_case("cait")
    for changes in TRIED:
        if changes.startswith(("shift_image", "shuffle_patches")) or changes == "mask_patches:patches=0.0+1.1":
            assert effects_of(captured, changes)
        else:
            with pytest.raises(UnsupportedError, match="cait"):
                effects_of(captured, changes)


# ------------------------------------------------------------------------------------------------ nothing selected


@pytest.mark.parametrize(("made", "changes"), in_turn(CAPTURES, NOTHING, WHOLE))
def test_nothing_selected_changes_no_bit(made, changes):
    captured = capture_small(*made)
    if "mask_patches" in changes and captured.site(0).windows:
        changes = changes.replace(",how=attention", "")
    again = vx.intervene(captured, changes)
    assert torch.equal(again.output, captured.output)
    for block in range(captured.depth):
        assert torch.equal(again.attention(block), captured.attention(block))


def test_a_change_of_one_head_leaves_the_blocks_before_it_alone(any_capture):
    last = any_capture.depth - 1
    for how in ("zero", "mean"):
        again = vx.intervene(any_capture, {"heads_off": {"heads": [(last, 0)], "how": how}})
        for block in range(last):
            assert torch.equal(again.attention(block), any_capture.attention(block))
        assert not torch.equal(again.output, any_capture.output)


# ------------------------------------------------------------------------------------------------ the slow twins


def test_heads_off_is_the_twins(any_capture):
    heads = {(0, 1), (any_capture.depth - 1, 0)}
    module, pixels = any_capture.model.module, any_capture.input.tensor
    zero = vx.intervene(any_capture, {"heads_off": {"heads": tuple(heads)}})
    close(zero.output, twin.run_changed(module, pixels, off=frozenset(heads)))
    mean = vx.intervene(any_capture, {"heads_off": {"heads": tuple(heads), "how": "mean"}})
    close(mean.output, twin.run_changed(module, pixels, twin.averaged_heads(heads)))


@pytest.mark.parametrize(("made", "k"), in_turn(CAPTURES, [1, 3], WHOLE))
def test_top_k_is_the_twins(made, k):
    captured = capture_small(*made)
    changes = twin.each_row(lambda row, _: twin.only_top(row, k))
    again = vx.intervene(captured, {"top_k": {"k": k}})
    close(again.output, twin.run_changed(captured.model.module, captured.input.tensor, changes))
    for block in range(captured.depth):
        assert ((again.attention(block) > 0).sum(-1) <= k).float().mean() > 0.99  # ties apart


@pytest.mark.parametrize("key", COLUMNAR)
def test_hidden_patches_are_the_twins(key):
    captured = capture_small(key)
    grid, prefix = captured.grid(0), len(captured.prefix_tokens)
    hidden = {prefix, prefix + grid.cols + 2}
    again = vx.intervene(captured, "mask_patches:patches=0.0+1.2,how=attention")
    close(again.output, twin.run_changed(captured.model.module, captured.input.tensor, twin.without_keys(hidden)))


@pytest.mark.parametrize("key", NO_BIAS)
def test_a_temperature_is_the_twins(key):
    """softmax(s / T) is softmax(s) to the power 1 / T, each row divided by its sum."""
    captured = capture_small(key)

    def change(row: np.ndarray, _: int) -> np.ndarray:
        return row ** (1 / 1.7) / (row ** (1 / 1.7)).sum()

    again = vx.intervene(captured, {"temperature": {"temperature": 1.7}})
    close(again.output, twin.run_changed(captured.model.module, captured.input.tensor, twin.each_row(change)))


@pytest.mark.parametrize("key", ["beit", "swin", "swinv2", "swin_padded"])
def test_a_temperature_leaves_biases_and_masks_alone(key):
    """At infinite temperature only the mask remains: the attention of all heads with q = 0."""
    captured = capture_small(key)
    hot = vx.intervene(captured, "temperature:temperature=20")
    check_fused_or_not(captured, "temperature:temperature=20", hot)
    call, changed = captured.call(0), hot.call(0)
    if call.bias is not None:
        expected = (call.query @ call.key.mT * call.scale / 20 + call.bias).softmax(-1)
        close(changed.weights(), expected)


def test_positions_off_is_the_twins(any_capture):
    again = vx.intervene(any_capture, "positions:how=off")
    with torch.no_grad():
        close(again.output, twin.without_positions(any_capture.model.module)(any_capture.input.tensor))
    assert not torch.equal(again.output, any_capture.output)


@pytest.mark.parametrize("key", ["vit", "deit_distilled", "siglip", "dinov2_registers"])
def test_shuffled_positions_are_those_of_other_patches(key):
    """Shuffling patches and positions alike reorders the image, and a class token cannot tell."""
    captured, seed = capture_small(key), 5
    again = vx.intervene(captured, {"positions": {"how": "shuffled", "seed": seed}})
    module = with_fused_attention(captured.model.module, True)
    order = torch.randperm(captured.grid(0).num_patches, generator=torch.Generator().manual_seed(seed))
    first = module.pos_embed.shape[1] - len(order)
    with torch.no_grad():
        for place, source in enumerate(order):
            module.pos_embed[0, first + place] = captured.model.module.pos_embed[0, first + source]
        assert torch.equal(again.output, module(captured.input.tensor))


# ------------------------------------------------------------------------------------------------ permutations

PATCHES = [
    key for key, recipe in RECIPES.items() if key in (*COLUMNAR, "clip", "deit3", "eva", "beitv2", "registers_only")
]


@pytest.mark.parametrize("key", PATCHES)
@pytest.mark.parametrize("more", ["", ";top_k:k=5", ";heads_off:heads=1.0,how=mean;temperature:temperature=2"])
def test_without_positions_shuffled_patches_only_change_places(key, more):
    captured = capture_small(key)
    plain = vx.intervene(captured, "positions:how=off" + more)
    again = vx.intervene(captured, "positions:how=off;shuffle_patches:seed=4" + more)
    prefix, order = len(captured.prefix_tokens), again.change.moved.order
    assert (order != np.arange(len(order))).sum() > len(order) / 2
    tokens = np.concatenate([np.arange(prefix), prefix + order])
    close(again.output, plain.output)
    for block in range(captured.depth):
        close(again.residual_after(block), plain.residual_after(block)[tokens])
        close(again.attention(block), plain.attention(block)[:, tokens][:, :, tokens])
    with_positions = vx.intervene(captured, "shuffle_patches:seed=4")
    assert (with_positions.output - captured.output).abs().max() > 1e-3


@pytest.mark.parametrize("key", ["vit", "swin", "uneven", "swin_padded"])
def test_shuffling_moves_whole_cells_and_loses_none(key):
    captured = capture_small(key)
    again = vx.intervene(captured, "shuffle_patches:seed=1")
    moved = again.change.moved
    assert sorted(moved.order) == list(range(moved.grid.num_patches))
    before, after = captured.input.pixels, again.input.pixels
    assert sorted(map(tuple, before.reshape(-1, 3).tolist())) == sorted(map(tuple, after.reshape(-1, 3).tolist()))
    side, cols = moved.grid.patch_size, moved.grid.cols
    for place, source in enumerate(moved.order):
        (r, c), (fr, fc) = divmod(place, cols), divmod(int(source), cols)
        np.testing.assert_array_equal(
            after[r * side : (r + 1) * side, c * side : (c + 1) * side],
            before[fr * side : (fr + 1) * side, fc * side : (fc + 1) * side],
        )


# ------------------------------------------------------------------------------------------------ hidden patches


@pytest.mark.parametrize("key", ["vit", "deit_distilled", "dinov3", "clip"])
def test_nothing_of_a_hidden_patch_reaches_the_class_token(key):
    captured = capture_small(key)
    other = captured.input.pixels.copy()
    side = captured.grid(0).patch_size
    other[side : 2 * side, 2 * side : 3 * side] = 255 - other[side : 2 * side, 2 * side : 3 * side]
    changes = "mask_patches:patches=1.2,how=attention"
    one, two = (
        vx.intervene(capture(captured.model, pixels, fit="squash"), changes)
        for pixels in (captured.input.pixels, other)
    )
    assert torch.equal(one.residual_after(captured.depth - 1)[0], two.residual_after(captured.depth - 1)[0])
    assert not torch.equal(capture(captured.model, other, fit="squash").output, captured.output)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("vit", "not attended to"),
        ("deit_distilled", "not attended to"),  # reads its two tokens, and no patch
        ("registers_only", "not attended to, still in the mean that the classifier reads"),
        ("siglip", "not attended to, still in what the model pools for its classifier"),
    ],
)
def test_tokens_that_read_hidden_patches_are_named(key, message):
    changed = vx.intervene(capture_small(key), "mask_patches:patches=1.2,how=attention")
    assert changed.provenance.changes[0].en == f"1 of 16 patches {message}"


def test_painted_patches_are_the_mean_colour(any_capture):
    grid = any_capture.grid(any_capture.depth - 1)
    again = vx.intervene(any_capture, "mask_patches:patches=0.1")
    cell = again.input.tensor[0, :, : grid.patch_size, grid.patch_size : 2 * grid.patch_size]
    assert cell.abs().max() < 0.51 / 255 / 0.2  # half a level of 255, divided by the smallest standard deviation
    changed = (again.input.pixels != any_capture.input.pixels).any(-1)
    assert changed.sum() <= grid.patch_size**2
    assert not changed[:, : grid.patch_size].any()


# ------------------------------------------------------------------------------------------------ by hand


def test_top_k_by_hand():
    """Keys 3 1 2 2 with k = 2: the second largest is 2, and both that tie with it stay."""
    scores = torch.tensor([3.0, 1.0, 2.0, 2.0])[None, None, None]
    assert keep_highest(scores, 2)[0, 0, 0].tolist() == [3.0, -torch.inf, 2.0, 2.0]
    assert keep_highest(scores, 1)[0, 0, 0].tolist() == [3.0, -torch.inf, -torch.inf, -torch.inf]
    assert keep_highest(scores, 4) is scores


def test_averaged_by_hand():
    """Two queries that look at (1, 0) and (0.5, 0.5): their mean is (0.75, 0.25)."""
    scores = torch.tensor([[1.0, 1e-30], [0.5, 0.5]]).log()[None, None].repeat(1, 2, 1, 1)
    weights = averaged(scores, torch.tensor([True, False])).softmax(-1)[0]
    torch.testing.assert_close(weights[0], torch.tensor([[0.75, 0.25], [0.75, 0.25]]))
    torch.testing.assert_close(weights[1], torch.tensor([[1.0, 0.0], [0.5, 0.5]]))


def test_values_by_zero_is_the_head_off():
    values = torch.randn(2, 3, 4, 5, generator=torch.Generator().manual_seed(0))
    off = silenced(values, torch.tensor([False, True, False]))
    assert torch.equal(off[:, 1], torch.zeros(2, 4, 5))
    assert torch.equal(off[:, ::2], values[:, ::2])


def test_shifts_by_hand():
    row = np.arange(1, 5, dtype=np.uint8)[None, :, None].repeat(3, -1)
    mean = (0.0, 0.5, 1.0)
    assert shifted(row, 1, 0, "wrap", mean)[0, :, 0].tolist() == [4, 1, 2, 3]
    assert shifted(row, -1, 0, "edge", mean)[0, :, 0].tolist() == [2, 3, 4, 4]
    assert shifted(row, 2, 0, "mean", mean)[0, :, 2].tolist() == [255, 255, 1, 2]
    assert shifted(row.swapaxes(0, 1), 0, 1, "wrap", mean)[:, 0, 0].tolist() == [4, 1, 2, 3]


def test_a_shuffle_can_be_undone():
    captured = capture_small("vit")
    grid, pixels = captured.grid(0), captured.input.pixels
    moved = vx.intervene(captured, "shuffle_patches").change.moved
    there = rearranged(pixels, moved)
    back = rearranged(there, replace(moved, order=np.argsort(moved.order)))
    np.testing.assert_array_equal(back, pixels)
    assert not np.array_equal(shuffled_order(grid, pixels.shape[:2], 0), shuffled_order(grid, pixels.shape[:2], 1))


# ------------------------------------------------------------------------------------------------ a capture like any


@pytest.mark.parametrize(("made", "changes"), in_turn(CAPTURES, TRIED, WHOLE))
def test_a_changed_run_shows_the_attention_it_used(made, changes):
    captured = capture_small(*made)
    if is_refused(captured, changes):
        return
    again = vx.intervene(captured, changes)
    for block, output in enumerate(attention_outputs(again)):
        call = again.call(block)
        weights = again.attention(block)
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]), rtol=0, atol=1e-5)
        torch.testing.assert_close(call.weights() @ call.value, output, rtol=0, atol=1e-5)


@pytest.mark.parametrize("changes", TRIED)
@pytest.mark.parametrize("key", ["vit", "beit", "dinov3"])
def test_fused_or_not_a_change_is_the_same(key, changes):
    captured = capture_small(key)
    if not is_refused(captured, changes):
        check_fused_or_not(captured, changes, vx.intervene(captured, changes))


@pytest.mark.parametrize("key", ["vit", "swin", "eva02"])
def test_views_that_run_again_run_the_changed_network(key):
    captured = capture_small(key)
    again = vx.intervene(captured, "top_k:k=3;heads_off:heads=1.0")
    close(again.run(again.input.tensor), again.output)
    batch = again.run(torch.cat([again.input.tensor, again.input.tensor.flip(-1)]))
    close(batch[:1], again.output)
    for view in ("grad_cam", "input_x_gradient", "occlusion", "grad_rollout"):
        plain, changed = vx.compute(view, captured, target=2), vx.compute(view, again, target=2)
        assert np.abs(plain.values - changed.values).max() > 1e-6, view
        assert changed.provenance.changes
        assert not plain.provenance.changes


def test_a_changed_run_knows_its_plain_one():
    captured = capture_small("vit")
    again = vx.intervene(captured, ["positions", "top_k:k=4"])
    assert again.change.original is captured
    assert [text.en for text in again.provenance.changes] == [
        "position embeddings off",
        "attention limited to the top 4 keys",
    ]
    assert again.nbytes > captured.nbytes


# ------------------------------------------------------------------------------------------------ no trace


@pytest.mark.parametrize("key", ["vit", "beit", "eva02", "swin", "swinv2_padded"])
def test_a_change_leaves_no_trace(key):
    captured = capture_small(key)
    before = traces(captured.model.module)
    for changes in TRIED:
        if not is_refused(captured, changes):
            vx.intervene(captured, changes)
    assert traces(captured.model.module) == before
    with torch.no_grad():
        assert torch.equal(captured.model.module(captured.input.tensor), captured.output)


@pytest.mark.parametrize("key", ["vit", "swin"])
def test_an_error_in_the_middle_leaves_no_trace(key, monkeypatch):
    captured = capture_small(key)
    before = traces(captured.model.module)
    monkeypatch.setattr(blocks_of(captured.model.module)[1], "forward", fail_midway)
    with pytest.raises(RuntimeError, match="in the middle"):
        vx.intervene(captured, "positions;top_k;heads_off")
    monkeypatch.undo()
    assert traces(captured.model.module) == before
    assert torch.equal(capture_input(captured.model, captured.input).output, captured.output)


@pytest.mark.parametrize("key", ["vit", "eva02", "swin"])
def test_threads_share_one_model_each_with_its_own_change(key):
    model = load_small(key)
    image = picture(*model.preprocessing.input_size)
    jobs = ["", "positions", "top_k:k=2", "heads_off:heads=0.0", "temperature:temperature=3", "shuffle_patches"]

    def run(changes: str) -> Capture:
        return vx.intervene(capture(model, image, fit="squash"), changes)

    serial = [run(changes) for changes in jobs]

    def again(changes: str) -> Capture:
        return [run(changes) for _ in range(3)][-1]

    for one, other in zip(serial, at_once(*(partial(again, changes) for changes in jobs)), strict=True):
        assert torch.equal(one.output, other.output)
        assert torch.equal(one.attention(1), other.attention(1))


# ------------------------------------------------------------------------------------------------ text and sentences


@pytest.mark.parametrize("name", INTERVENTIONS)
def test_an_intervention_says_what_it_is(name):
    record, captured = INTERVENTIONS[name], planted() if name == "registers" else capture_small("vit")
    assert record.question.en.endswith("?")
    assert record.paper.url.startswith("https://")
    settings = settled(captured, {name: {}})[name]
    text = record.says(captured, **settings)
    assert text.en != text.zh
    assert torch.isfinite(vx.intervene(captured, {name: {}}).output).all()
    assert settled(captured, write_changes({name: settings})) == {name: settings}


def test_they_are_listed_and_applied_in_the_order_in_which_they_act():
    acts = [record.acts for record in vx.interventions().values()]
    assert acts == sorted(set(acts))
    assert list(settled(capture_small("vit"), "heads_off;shift_image;positions")) == [
        "shift_image",
        "positions",
        "heads_off",
    ]


def test_changes_as_text():
    text = "positions:how=off;heads_off:heads=5.0+5.2,how=mean"
    read = read_changes(text)
    assert read == {"positions": {"how": "off"}, "heads_off": {"heads": "5.0+5.2", "how": "mean"}}
    assert write_changes({"heads_off": {"heads": ((5, 0), (5, 2)), "how": "mean"}, "top_k": {}}) == (
        "heads_off:heads=5.0+5.2,how=mean;top_k"
    )


@pytest.mark.parametrize(
    ("changes", "error", "expected"),
    [
        ("topk", UnknownNameError, "Unknown intervention 'topk'. Did you mean 'top_k'?"),
        ("top_k:n=3", UnknownNameError, "Unknown setting 'n'."),
        ("top_k:3", SettingError, "A change is written name:setting=value,setting=value, not top_k:3."),
        ("top_k:k=0", SettingError, "k must be from 1 to 256, not 0."),
        ("top_k:k=257", SettingError, "k must be from 1 to 256, not 257."),
        ("heads_off:heads=3.0", SettingError, "There is no block 3: this model has blocks 0 to 2."),
        ("heads_off:heads=0.3", SettingError, "There is no head 3: block 0 has heads 0 to 2."),
        ("heads_off:heads=5", SettingError, "A head is block.head, such as 5.0, or 5.* for a whole block, not ['5']."),
        ("mask_patches:patches=4.0", SettingError, "There is no patch (4, 0): the grid has rows 0 to 3"),
        ("mask_patches:patches=x", SettingError, "A patch is row.col, such as 3.4, not 'x'."),
        ("positions:how=of", UnknownNameError, "Unknown how 'of'. Did you mean 'off'?"),
    ],
)
def test_a_wrong_change_is_answered_with_the_rule(changes, error, expected):
    with pytest.raises(error) as raised:
        vx.intervene(capture_small("vit"), changes)
    assert str(raised.value).startswith(expected)


@pytest.mark.parametrize(
    ("key", "fit", "changes", "expected"),
    [
        ("swin", "squash", "positions:how=shuffled", "swin adds no position embedding to its tokens"),
        ("dinov3", "squash", "positions:how=shuffled", "dinov3 adds no position embedding to its tokens"),
        ("vit", "native", "positions:how=shuffled", "Positions can be shuffled at the model's own size only."),
        ("swin", "squash", "mask_patches:how=attention", "swin merges patches between its stages"),
        ("hybrid", "squash", "mask_patches:how=attention", "The tokens of hybrid are cut from features of convolut"),
    ],
)
def test_what_has_no_meaning_is_refused_with_a_sentence(key, fit, changes, expected):
    with pytest.raises((UnsupportedError, SettingError)) as raised:
        vx.intervene(capture_small(key, fit), changes)
    assert str(raised.value).startswith(expected)


def test_a_changed_run_is_not_changed_again():
    again = vx.intervene(capture_small("vit"), "top_k")
    with pytest.raises(SettingError, match="already changed"):
        vx.intervene(again, "positions")


def test_scores_that_would_fill_the_memory_are_refused(monkeypatch):
    monkeypatch.setattr(import_module("vitexplorer.interventions"), "MOST_BYTES", 1000)
    with pytest.raises(UnsupportedError, match="needs all attention scores at once"):
        vx.intervene(capture_small("vit"), "top_k:k=3")
    vx.intervene(capture_small("vit"), "positions;heads_off")  # keeps no scores
