"""Patches as the model cuts them."""

from __future__ import annotations

import numpy as np

import vitexplorer as vx
from tests.helpers import reference


def test_patch_grid(any_capture):
    grid = any_capture.grid(0)
    result = vx.compute("patch_grid", any_capture)
    assert result.values.dtype == np.uint8
    expected = reference.patches(any_capture.input.pixels, grid.rows, grid.cols, grid.patch_size)
    np.testing.assert_array_equal(result.values, expected)
