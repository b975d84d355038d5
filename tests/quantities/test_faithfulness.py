"""Order of patches and steps by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import vitexplorer as vx
from tests.helpers.small_models import capture_small
from vitexplorer.core.text import same
from vitexplorer.quantities.faithfulness import (
    best_text,
    coarsened,
    first_ones,
    gain_uncertainties,
    ranking,
    step_counts,
)


def test_order_and_steps_by_hand():
    assert step_counts(5, 2).tolist() == [0, 2, 5]
    assert step_counts(3, 100).tolist() == [0, 1, 2, 3]
    order = ranking(np.array([[1.0, 3.0, 2.0]]), seed=0)
    assert order.tolist() == [1, 2, 0]
    assert first_ones(order, np.array([0, 2, 3])).tolist() == [
        [False, False, False, False],
        [False, True, True, False],
        [True, True, True, False],  # the last place, pixels of no patch, is never exchanged
    ]


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


def test_the_uncertainty_of_an_area_by_hand():
    values = np.array([[[1.0, 0.4, 0.4], [0.0, 0.0, 1.0]], [[0.5, 0.5, 0.5], [0.2, 0.2, 0.2]]])
    shares = np.array([0, 0.5, 1])
    half_widths = [0.6 * 0.5 / 2, 1.0 * 0.5 / 2]  # of the two steps that change anything
    expected = 2 * np.sqrt(sum(half**2 / 3 for half in half_widths))
    assert gain_uncertainties(values, shares) == pytest.approx([expected, 0])


def test_areas_of_more_steps_lie_within_the_uncertainty():
    capture = capture_small("vit")
    few, many = (vx.compute("faithfulness", capture, target=3, steps=steps) for steps in (4, 16))
    half = gain_uncertainties(few.values, np.array(few.steps))
    assert (np.abs(np.diff(few.areas - many.areas)[:, 0]) <= half).mean() >= 0.8
    assert gain_uncertainties(many.values, np.array(many.steps)).mean() < half.mean()


@pytest.mark.parametrize(
    ("gains", "uncertainty", "expected"),
    [
        ((0.308, 0.3, 0.05), 0.01, "LeGrad is ahead of Grad-CAM by 0.008 ± 0.014 in the area between the curves: "
         "these two cannot be told apart on this picture; a random order is 0.258 ± 0.014 behind."),
        ((0.3, 0.2, 0.05), 0.01, "LeGrad is ahead of Grad-CAM by 0.100 ± 0.014 in the area between the curves; "
         "a random order is 0.250 ± 0.014 behind."),
        ((0.1, 0.09, 0.05), 0.1, "LeGrad is ahead of Grad-CAM by 0.01 ± 0.14 in the area between the curves: these "
         "two cannot be told apart on this picture; a random order is 0.05 ± 0.14 behind and cannot be told apart "
         "from it either."),
        ((0.3, 0.02, 0.05), 0.01, "LeGrad is ahead of a random order by 0.250 ± 0.014 in the area between the curves."),
        ((0.3, 0.05), 0.01, "LeGrad is ahead of a random order by 0.250 ± 0.014 in the area between the curves."),
        ((0.01, 0.02, 0.05), 0.01, "No method beats random order here: the area between insertion and deletion is "
         "0.050 ± 0.010 for random order and 0.020 ± 0.010 for the best, Grad-CAM."),
        ((0.05,), 0.01, "A random order alone gives an area of 0.0500 between insertion and deletion: a map must do "
         "better."),
    ],
)  # fmt: skip
def test_a_lead_within_its_uncertainty_ranks_nothing(gains, uncertainty, expected):
    titles = [same(name) for name in (*("LeGrad", "Grad-CAM")[: len(gains) - 1], "Random map")]
    areas = np.array([(0.5, 0.5 + gain) for gain in gains])
    assert best_text(titles, areas, np.full(len(gains), uncertainty)).en == expected
