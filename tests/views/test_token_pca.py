"""Principal components of tokens against scikit-learn; signs, foreground, one basis."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

import vitexplorer as vx
from tests.helpers.small_models import capture_small
from vitexplorer.core.text import SettingError
from vitexplorer.views.token_pca import border_of, fit_basis, inner_half, patch_tokens


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
    for actual, one in zip(colours.T, expected.T, strict=True):  # sklearn's own sign may be the other
        assert np.allclose(actual, one, atol=1e-5) or np.allclose(actual, 1 - one, atol=1e-5)
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
    """Make a 4 x 4 picture whose inner 2 x 2 patches differ from the rest, above or below the mean."""
    inner = np.zeros((4, 4), dtype=bool)
    inner[1:3, 1:3] = True
    for sign in (1, -1):
        scores = sign * np.where(inner, 3.0, -1.0).flatten()
        assert (inner_half(scores, border_of(4, 4)).reshape(4, 4) == inner).all()
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
    captured = capture_small("swin")
    with pytest.raises(SettingError, match="reads tokens of width 96, and those of block 0 have 24: set norm to off"):
        vx.compute("token_pca", captured, block=0, norm="on")
    with pytest.raises(SettingError, match="set norm to off"):
        vx.shared_token_pca([captured], block=0)


@pytest.mark.parametrize(("stage", "values"), [(0, ["False"]), (-1, ["True", "False"])])
def test_the_final_norm_is_offered_where_it_fits(stage, values):
    captured = capture_small("swin")
    block = range(captured.depth)[stage]
    result = vx.compute("token_pca", captured, block=block)
    assert result.settings["norm"] == (values[0] == "True")
    norm = vx.views()["token_pca"].controls[1].spec(captured, {"block": block})
    assert [value for value, _ in norm.options] == values


def test_a_switch_is_on_or_off():
    with pytest.raises(SettingError, match="norm is on or off, not 'maybe'"):
        vx.compute("token_pca", capture_small("vit"), norm="maybe")
    for on, off in [(True, False), ("on", "off"), ("True", "False"), (1, 0)]:
        assert vx.compute("token_pca", capture_small("vit"), norm=on).settings["norm"] is True
        assert vx.compute("token_pca", capture_small("vit"), norm=off).settings["norm"] is False
