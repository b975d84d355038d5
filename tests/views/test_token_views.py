"""Reading tokens: what the classifier makes of them, how they resemble each other, how long they are."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from timm.models.beit import Beit
from torch import nn

import vitexplorer as vx
from tests.helpers import reference_tokens
from tests.helpers.small_models import RECIPES, capture_small, load_small
from tests.helpers.unfused_attention import run_explicitly
from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import sharpest_patch
from vitexplorer.core.registry import UnknownNameError
from vitexplorer.core.text import SettingError, UnsupportedError
from vitexplorer.quantities.outliers import far_out
from vitexplorer.views.token_pca import fit_basis, foreground_of, patch_tokens


def last_tokens(captured: Capture) -> torch.Tensor:
    """The residual stream after the last block, (1, tokens, dim)."""
    return captured.residual_after(captured.depth - 1)[None]


# ------------------------------------------------------------------------------------------------ reading


def test_own_reading_is_the_models_output_bit_for_bit(any_capture):
    family, module = any_capture.model.family, any_capture.model.module
    with torch.no_grad():
        assert torch.equal(family.read_out(module, last_tokens(any_capture), "own"), any_capture.output)


def test_the_reading_a_model_is_said_to_be_trained_with_gives_its_output(any_capture):
    family, module = any_capture.model.family, any_capture.model.module
    with torch.no_grad():
        found = family.read_out(module, last_tokens(any_capture), family.own_reading(module))
    torch.testing.assert_close(found, any_capture.output, rtol=0, atol=1e-5)


OWN = {
    "vit": "cls",
    "vit_not_square": "cls",
    "encoder": "cls",
    "deit_distilled": "own",
    "deit3": "cls",
    "dinov2_registers": "cls",
    "registers_only": "mean",
    "clip": "cls",
    "siglip": "own",
    "uneven": "own",
    "beit": "mean",
    "eva": "mean",
    "dinov3": "mean",
    "perception_encoder": "own",
    "swin": "mean",
    "swinv2": "mean",
}
"""from the papers and timm's model cards"""


@pytest.mark.parametrize("key", OWN)
def test_own_reading(key):
    model = load_small(key)
    assert model.family.own_reading(model.module) == OWN[key]


def test_readings_are_those_of_the_tokens_there_are(any_model):
    readings = any_model.family.readings(any_model.module)
    named = [name for name in ("cls", "dist") if name in RECIPES[any_model.name].prefix_tokens]
    assert readings[: len(named)] == tuple(named)
    assert "mean" in readings
    assert any_model.family.own_reading(any_model.module) in readings


@torch.no_grad()
def test_each_token_is_read_as_the_class_token_is(any_capture):
    family, module = any_capture.model.family, any_capture.model.module
    tokens = last_tokens(any_capture)
    each = family.read_each(module, tokens)
    assert each.shape[:2] == tokens.shape[:2]
    prefix = len(any_capture.prefix_tokens)
    for place in range(3):
        alone = torch.cat([tokens[:, :prefix], tokens[:, prefix + place, None]], dim=1)  # the mean of one is itself
        torch.testing.assert_close(each[:, prefix + place], family.read_out(module, alone, "mean"), rtol=0, atol=1e-5)
    if "cls" in any_capture.prefix_tokens:
        torch.testing.assert_close(each[:, 0], family.read_out(module, tokens, "cls"), rtol=0, atol=1e-5)


def test_dist_has_its_own_classifier_and_own_is_the_mean_of_both():
    model = load_small("deit_distilled")
    tokens = torch.randn(2, 18, 48, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        by = {reading: model.family.read_out(model.module, tokens, reading) for reading in ("cls", "dist", "own")}
        expected = model.module.head_dist(model.module.norm(tokens[:, 1]))
    torch.testing.assert_close(by["dist"], expected)
    torch.testing.assert_close(by["own"], (by["cls"] + by["dist"]) / 2)


@torch.no_grad()
def test_the_mean_is_timms_own_average_pooling(any_capture):
    family, module = any_capture.model.family, any_capture.model.module
    tokens = last_tokens(any_capture)
    if getattr(module, "attn_pool", None) is not None or isinstance(module, Beit) or any_capture.site(0).windows:
        pytest.skip("timm pools this module in one way only")
    pooled = module.pool(module.norm(tokens), pool_type="avg")
    torch.testing.assert_close(family.read_out(module, tokens, "mean"), module.head(module.fc_norm(pooled)))


# ------------------------------------------------------------------------------------------------ pooling


def read_slowly(module: nn.Module, token: np.ndarray) -> np.ndarray:
    """Final LayerNorm and classifier of one token, in float64."""
    norm = module.norm if isinstance(module.norm, nn.LayerNorm) else module.fc_norm
    parameters = [p.detach().double().numpy() for p in (norm.weight, norm.bias, module.head.weight, module.head.bias)]
    return reference_tokens.linear(
        reference_tokens.layer_norm(token, *parameters[:2], norm.eps), parameters[2], parameters[3]
    )


PLAIN = ["vit", "clip", "dinov2_registers", "registers_only", "eva", "dinov3"]
"""whose norm is a LayerNorm and whose classifier is linear"""


def test_cosine_of_class_token_and_mean_patch(any_capture):
    if "cls" not in any_capture.prefix_tokens:
        with pytest.raises(UnsupportedError, match=r"has no class token to compare"):
            vx.compute("pooling", any_capture)
        return
    prefix = len(any_capture.prefix_tokens)
    streams = run_explicitly(any_capture.model.module, any_capture.input.tensor).residual_after
    expected = [reference_tokens.cosine(x[0, 0], x[0, prefix:].double().mean(0)) for x in streams]
    np.testing.assert_allclose(vx.compute("pooling", any_capture).values, expected, atol=1e-5)


def test_the_reading_of_training_says_what_the_model_says(any_capture):
    if "cls" not in any_capture.prefix_tokens or not any_capture.model.num_classes:
        pytest.skip("no readings")
    result = vx.compute("pooling", any_capture)
    (own,) = (reading for reading in result.readings if reading.is_own)
    order = any_capture.logits.argsort(descending=True)[:5].tolist()
    assert [prediction.index for prediction in own.top] == order
    probabilities = reference_tokens.softmax(any_capture.logits.double().numpy())
    for prediction in own.top:
        assert prediction.logit == pytest.approx(float(any_capture.logits[prediction.index]), abs=1e-5)
        assert prediction.probability == pytest.approx(probabilities[prediction.index], abs=1e-6)
    for reading in result.readings:
        assert len(reading.after_blocks) == any_capture.depth
        assert reading.after_blocks[-1] == reading.top[0]


@pytest.mark.parametrize("key", ["vit", "dinov2_registers", "dinov3"])
def test_readings_of_a_plain_model(key):
    captured = capture_small(key)
    module, prefix = captured.model.module, len(captured.prefix_tokens)
    result = vx.compute("pooling", captured)
    for reading in result.readings:
        for block in range(captured.depth):
            tokens = captured.residual_after(block).double().numpy()
            if reading.reading == "cls":
                logits = read_slowly(module, tokens[0])
            elif isinstance(module.norm, nn.LayerNorm):  # normed, then averaged
                norms = module.norm.weight.detach().double().numpy(), module.norm.bias.detach().double().numpy()
                normed = [reference_tokens.layer_norm(x, *norms, module.norm.eps) for x in tokens[prefix:]]
                head = module.head.weight.detach().double().numpy(), module.head.bias.detach().double().numpy()
                logits = reference_tokens.linear(np.mean(normed, axis=0), *head)
            else:
                logits = read_slowly(module, tokens[prefix:].mean(0))
            found = reading.after_blocks[block]
            assert found.index == int(np.argmax(logits))
            assert found.logit == pytest.approx(float(max(logits)), abs=1e-4)


def test_class_names_where_they_are_known():
    captured = capture_small("deit_distilled")
    names = tuple("abcdefg")
    result = vx.compute("pooling", replace(captured, model=replace(captured.model, class_names=names)))
    assert [reading.reading for reading in result.readings] == ["cls", "dist", "mean", "own"]
    assert [reading.is_own for reading in result.readings] == [False, False, False, True]
    assert all(prediction.name.en == names[prediction.index] for r in result.readings for prediction in r.top)
    assert all(prediction.name.en == "" for r in vx.compute("pooling", captured).readings for prediction in r.top)


def test_without_a_classifier_only_the_tokens_are_compared():
    result = vx.compute("pooling", capture_small("encoder"))
    assert result.readings == ()
    assert len(result.values) == 3
    assert "tells no classes apart" in result.notes[-1].en


# ------------------------------------------------------------------------------------------------ logit lens


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
    """Tokens twice as long give the same logits, as a LayerNorm has it."""
    captured = capture_small("vit")
    longer = replace(captured, made={block: 2 * made for block, made in captured.made.items()})
    before, after = (vx.compute("logit_lens", c, token="cls").values for c in (captured, longer))
    np.testing.assert_allclose(before, after, atol=1e-4)


def test_lens_of_swin_is_of_its_last_stage():
    result = vx.compute("logit_lens", capture_small("swin"), token="patches")
    assert result.blocks == (4, 5)
    assert result.values.shape == (2, 4, 4)
    assert any("blocks 4 to 5" in note.en for note in result.notes)


def test_a_reading_that_was_not_trained_is_said():
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


# ------------------------------------------------------------------------------------------------ principal components


@pytest.mark.parametrize("norm", [True, False])
def test_token_pca_is_that_of_sklearn(any_capture, norm):
    from sklearn.decomposition import PCA

    block = any_capture.depth - 1
    prefix, grid = len(any_capture.prefix_tokens), any_capture.grid(block)
    tokens = any_capture.residual_after(block)[None]
    if norm:
        with torch.no_grad():
            tokens = any_capture.model.family.final_norm(any_capture.model.module, tokens)
    tokens = tokens[0, prefix:].double().numpy()
    count = min(3, len(tokens) - 1)
    scores = PCA(count).fit_transform(tokens)
    result = vx.compute("token_pca", any_capture, norm=norm)
    assert result.values.shape == (grid.rows, grid.cols, 3)
    colours = result.values.reshape(-1, 3)[:, :count]
    expected = (scores - scores.min(0)) / np.ptp(scores, axis=0)
    for found, one in zip(colours.T, expected.T, strict=True):  # sklearn's own sign may be the other
        assert np.allclose(found, one, atol=1e-5) or np.allclose(found, 1 - one, atol=1e-5)
    assert result.shown.all()


def test_the_sign_is_that_of_the_largest_loading():
    tokens = patch_tokens(capture_small("vit"), 2, norm=True)
    for turned in (tokens, tokens[::-1].copy(), tokens[np.random.default_rng(0).permutation(len(tokens))]):
        components = fit_basis(turned).components
        assert all(row[np.abs(row).argmax()] > 0 for row in components)
        np.testing.assert_allclose(components, fit_basis(tokens).components, atol=1e-8)


def test_permuted_tokens_have_permuted_colours():
    tokens = patch_tokens(capture_small("siglip"), 1, norm=False)
    order = np.random.default_rng(0).permutation(len(tokens))
    colours = fit_basis(tokens).colours(tokens)
    np.testing.assert_allclose(fit_basis(tokens[order]).colours(tokens[order]), colours[order], atol=1e-8)


def test_one_basis_for_two_pictures():
    one, other = (patch_tokens(capture_small("vit", fit), 2, norm=True) for fit in ("squash", "native"))
    basis = fit_basis(np.concatenate([one, other]))
    both = np.concatenate([basis.colours(one), basis.colours(other)])
    np.testing.assert_allclose(both, basis.colours(np.concatenate([one, other])))
    np.testing.assert_allclose([both.min(0), both.max(0)], [[0] * 3, [1] * 3], atol=1e-12)
    assert fit_basis(one).colours(other).min() >= 0  # cut where the second picture goes beyond the first
    assert fit_basis(one).colours(other).max() <= 1


def test_tokens_that_are_all_alike_have_no_colour():
    captured = capture_small("vit")
    alike = replace(captured, made={block: torch.ones_like(made) for block, made in captured.made.items()})
    result = vx.compute("token_pca", alike, norm=False, foreground=True)
    assert (result.values == 0.5).all()
    assert any("only 0 directions" in note.en for note in result.notes)


def test_foreground_is_what_touches_the_border_less():
    """A 4 x 4 picture whose inner 2 x 2 patches differ from the rest, above or below the mean."""
    inner = np.zeros((4, 4), dtype=bool)
    inner[1:3, 1:3] = True
    for sign in (1, -1):
        scores = sign * np.where(inner, 3.0, -1.0).flatten()
        assert (foreground_of(scores, 4, 4).reshape(4, 4) == inner).all()
    captured = capture_small("vit")
    rng = np.random.default_rng(0)
    made = torch.from_numpy(rng.normal(size=(1, 17, 48)).astype(np.float32))
    made[0, 1:][torch.from_numpy(inner.flatten())] += 20
    result = vx.compute("token_pca", replace(captured, made={2: made}), norm=False, foreground=True)
    assert (result.shown == inner).all()
    assert (result.values[~inner] == 0).all()
    assert result.values[inner].max() == pytest.approx(1)
    assert any("4 of 16 patches are shown" in note.en for note in result.notes)


def test_final_norm_needs_its_width():
    with pytest.raises(SettingError, match="reads tokens of width 96, and those of block 0 have 24: set norm to off"):
        vx.compute("token_pca", capture_small("swin"), block=0)
    assert vx.compute("token_pca", capture_small("swin"), block=0, norm="off").values.shape == (16, 16, 3)


def test_a_switch_is_on_or_off():
    with pytest.raises(SettingError, match="norm is on or off, not 'maybe'"):
        vx.compute("token_pca", capture_small("vit"), norm="maybe")
    for on, off in [(True, False), ("on", "off"), ("True", "False"), (1, 0)]:
        assert vx.compute("token_pca", capture_small("vit"), norm=on).settings["norm"] is True
        assert vx.compute("token_pca", capture_small("vit"), norm=off).settings["norm"] is False


# ------------------------------------------------------------------------------------------------ similarity and norms


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
    """Patch 5 of the second block, and the class token, ten times as long as they were."""
    captured = capture_small("vit")
    made = dict(captured.made)
    made[1] = made[1].clone()
    made[1][0, [0, 1 + 5]] *= 10
    before, after = (vx.compute("token_norms", c) for c in (captured, replace(captured, made=made)))
    assert not before.marked.any()
    assert np.argwhere(after.marked).tolist() == [[1, 6]]
    assert after.notes[0].en.endswith(": 1.")


def test_far_out_by_hand():
    """Quartiles of 1 2 3 4 5 are 2 and 4: far out is beyond 4 + 3 x 2 = 10."""
    assert far_out(np.array([1.0, 2, 3, 4, 5])).tolist() == [False] * 5
    assert far_out(np.array([1.0, 2, 3, 4, 10])).tolist() == [False] * 5
    assert far_out(np.array([1.0, 2, 3, 4, 10.1])).tolist() == [False] * 4 + [True]


# ------------------------------------------------------------------------------------------------ filters


def test_patch_filters_are_sklearns_components(any_model):
    from sklearn.decomposition import PCA

    captured = capture_small(any_model.name)
    if any_model.name.startswith("hybrid"):
        with pytest.raises(UnsupportedError, match=r"reads features of a CNN, not colours\."):
            vx.compute("patch_filters", captured)
        return
    weight = any_model.module.patch_embed.proj.weight.detach().double().numpy()
    fitted = PCA(5, svd_solver="full").fit(weight.reshape(len(weight), -1))
    result = vx.compute("patch_filters", captured, count=5)
    assert result.values.shape == (5, *weight.shape[2:], 3)
    np.testing.assert_allclose(result.shares, fitted.explained_variance_ratio_, rtol=1e-8)
    for picture, component in zip(result.values, fitted.components_, strict=True):
        component = component * np.sign(component[np.abs(component).argmax()])
        expected = 0.5 + 0.5 * component / component.max()
        for channel, y, x in product(range(3), (0, weight.shape[2] - 1), (0, weight.shape[3] // 2)):
            assert picture[y, x, channel] == pytest.approx(expected.reshape(weight.shape[1:])[channel, y, x], abs=1e-8)
        assert picture.max() == 1


def test_filters_are_no_more_than_the_kernels_have():
    """24 kernels around their mean span 23 directions."""
    result = vx.compute("patch_filters", capture_small("swin"))
    assert result.values.shape == (23, 4, 4, 3)
    assert any("23 directions only" in note.en for note in result.notes)
    assert result.shares.sum() == pytest.approx(1)


# ------------------------------------------------------------------------------------------------ no second pass


@pytest.mark.parametrize(
    "view", ["pooling", "logit_lens", "token_pca", "patch_similarity", "token_norms", "patch_filters"]
)
def test_the_network_does_not_run_again(view, monkeypatch):
    captured = capture_small("deit_distilled")
    monkeypatch.setattr(captured.model.module, "forward", None)
    for block in captured.model.module.blocks:
        monkeypatch.setattr(block, "forward", None)
    vx.compute(view, captured)
