"""Principal components of the patch embedding against scikit-learn."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import vitexplorer as vx
from tests.helpers.small_models import capture_small
from vitexplorer.core.text import UnsupportedError


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
    assert any("only 23 directions" in note.en for note in result.notes)
    assert result.shares.sum() == pytest.approx(1)
