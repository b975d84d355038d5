"""CKA against loops over its definition and over places, and one PCA basis for several pictures."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from sklearn.decomposition import PCA

import vitexplorer as vx
from tests.helpers.reference_cka import slow_cka, slow_places
from tests.helpers.small_models import capture_small, load_small, picture
from vitexplorer.capturing.capture import Capture
from vitexplorer.core.text import SettingError
from vitexplorer.core.types import PatchGrid
from vitexplorer.quantities.cka import _of_products, _product, at_places
from vitexplorer.views.token_pca import patch_tokens


@cache
def seen(key: str, seed: int = 0) -> Capture:
    """Capture pictures of one size for all models, so that they are the same picture."""
    return vx.capture(load_small(key), picture(64, 64, seed), fit="squash")


@pytest.mark.parametrize(("one", "other"), [("vit", "beit"), ("swin", "vit"), ("dinov2_registers", "registers_only")])
def test_cka_is_that_of_the_definition_at_the_same_places(one, other):
    a, b = seen(one), seen(other)
    values = vx.cka(a, b)
    assert values.shape == (a.depth, b.depth)
    for i, j in [(0, 0), (a.depth - 1, 1), (a.depth // 2, b.depth - 1)]:
        rows, cols = (min(getattr(c.grid(n), side) for c, n in ((a, i), (b, j))) for side in ("rows", "cols"))
        expected = slow_cka(slow_places(a, i, rows, cols), slow_places(b, j, rows, cols))
        assert values[i, j] == pytest.approx(expected, abs=1e-9)
    assert (values >= 0).all()
    assert (values <= 1 + 1e-12).all()


def test_cka_of_a_model_with_itself_is_one_and_symmetric():
    values = vx.cka(seen("vit"), seen("vit"))
    np.testing.assert_allclose(np.diag(values), 1)
    np.testing.assert_allclose(values, values.T)


def linear_cka(one: np.ndarray, other: np.ndarray) -> float:
    return _of_products(_product(one), _product(other))


def test_cka_forgets_turns_and_scales_and_nothing_else():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6))
    turn, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    assert linear_cka(X, 3 * X @ turn + 5) == pytest.approx(1)
    assert linear_cka(X, X * [9, 1, 1, 1, 1, 1]) < 0.9
    assert math.isnan(linear_cka(X, np.ones((40, 2))))


def test_cka_by_hand():
    """X = (1, -1, 0), Y = (1, 0, -1), centred: |Y^T X|^2 = 1, |X^T X| = |Y^T Y| = 2."""
    assert linear_cka(np.array([[1.0], [-1], [0]]), np.array([[1.0], [0], [-1]])) == pytest.approx(1 / 4)


def test_images_are_stacked():
    a, b = ([seen(key, seed) for seed in (0, 1)] for key in ("vit", "beit"))
    tokens = [
        np.concatenate([c.residual_after(2).double().numpy()[len(c.prefix_tokens) :] for c in side]) for side in (a, b)
    ]
    assert vx.cka(a, b)[2, 2] == pytest.approx(slow_cka(*tokens), abs=1e-9)


def test_a_finer_grid_is_averaged_within_the_coarser():
    tokens = np.arange(6.0)[:, None]  # rows 2, columns 3: centres at 1/6, 3/6, 5/6, the middle one counts to the right
    assert at_places(tokens, PatchGrid(2, 3, 16), 1, 2).ravel().tolist() == [1.5, 3.0]


def test_only_the_same_images_are_compared():
    with pytest.raises(SettingError, match="same images in the same order"):
        vx.cka(seen("vit"), seen("beit", 1))
    with pytest.raises(SettingError, match="same images in the same order"):
        vx.cka([seen("vit"), seen("vit", 1)], seen("beit"))


# ---------------------------------------------------------------------------------------------- one basis


def test_colours_of_several_pictures_are_one_projection():
    captures = [seen("dinov2_registers", seed) for seed in (0, 1)]
    results = vx.shared_token_pca(captures)
    tokens = np.concatenate([patch_tokens(capture, 2, True) for capture in captures])
    scores = PCA(3, svd_solver="full").fit_transform(tokens)
    colours = np.concatenate([result.values.reshape(-1, 3) for result in results])
    for n in range(3):
        share = (scores[:, n] - scores[:, n].min()) / np.ptp(scores[:, n])
        expected = min((share, 1 - share), key=lambda one: float(np.abs(one - colours[:, n]).max()))
        np.testing.assert_allclose(colours[:, n], expected, atol=1e-8)
    assert "One basis for 2 pictures" in results[0].notes[-1].en
    assert vx.render(results[0]).data


def test_of_one_picture_it_is_the_view():
    for foreground in (False, True):
        (alone,) = vx.shared_token_pca([capture_small("vit")], foreground=foreground)
        view = vx.compute("token_pca", capture_small("vit"), foreground=foreground)
        assert (alone.values == view.values).all()
        assert (alone.shown == view.shown).all()


def test_the_foreground_is_one_side_in_all_pictures():
    captures = [seen("vit", seed) for seed in (0, 1, 2)]
    foreground = np.concatenate([result.shown.ravel() for result in vx.shared_token_pca(captures, foreground=True)])
    tokens = np.concatenate([patch_tokens(capture, 2, True) for capture in captures])
    above = PCA(1, svd_solver="full").fit_transform(tokens)[:, 0] > 0
    assert (foreground == above).all() or (foreground == ~above).all()
    border = np.tile([r in (0, 3) or c in (0, 3) for r in range(4) for c in range(4)], 3)
    assert border[foreground].mean() <= border[~foreground].mean()


def test_a_basis_needs_tokens_of_one_width():
    with pytest.raises(SettingError, match="same width"):
        vx.shared_token_pca([seen("vit"), seen("swin")], block=0, norm=False)
    with pytest.raises(SettingError, match="same width"):
        vx.shared_token_pca([])
