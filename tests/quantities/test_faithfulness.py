"""Order of patches, steps and areas, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.helpers.small_models import capture_small
from vitexplorer.quantities.faithfulness import areas_under, coarsened, first_ones, ranking, step_counts


def test_order_steps_and_areas_by_hand():
    assert step_counts(5, 2).tolist() == [0, 2, 5]
    assert step_counts(3, 100).tolist() == [0, 1, 2, 3]
    order = ranking(np.array([[1.0, 3.0, 2.0]]), seed=0)
    assert order.tolist() == [1, 2, 0]
    assert first_ones(order, np.array([0, 2, 3])).tolist() == [
        [False, False, False, False],
        [False, True, True, False],
        [True, True, True, False],  # the last place, pixels of no patch, is never exchanged
    ]
    assert areas_under(np.array([[[1.0, 0.5, 0.0]]]), np.array([0, 0.4, 1.0]))[0, 0] == pytest.approx(0.3 + 0.15)


def test_equal_patches_go_in_an_order_that_the_seed_gives():
    values = np.zeros((4, 5))
    values[2, 2] = 1
    orders = [ranking(values, seed).tolist() for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]
    assert orders[0][0] == orders[2][0] == 12
    assert sorted(orders[0]) == list(range(20))


def test_a_finer_map_is_summed():
    """5 x 5 cells of 8 pixels on 3 x 3 cells of 16: the last row and column hold one fine cell each way."""
    fine, coarse = (
        replace(capture_small("siglip").grid(0), rows=n, cols=n, patch_size=s) for n, s in ((5, 8), (3, 16))
    )
    np.testing.assert_array_equal(coarsened(np.ones((5, 5)), fine, coarse), [[4, 4, 2], [4, 4, 2], [2, 2, 1]])
    values = np.arange(25.0).reshape(5, 5)
    np.testing.assert_array_equal(coarsened(values, fine, fine), values)
