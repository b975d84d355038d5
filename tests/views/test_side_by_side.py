"""Side-by-side view: maps and areas of the single views; rank correlation by hand."""

from __future__ import annotations

import numpy as np
import pytest

import vitexplorer as vx
from tests.helpers.relevance_cases import TARGET
from tests.helpers.small_models import capture_small
from vitexplorer.controls import MethodsControl
from vitexplorer.core.types import MapResult
from vitexplorer.views import explanation, explanations
from vitexplorer.views.side_by_side import agreements, ranks


@pytest.mark.parametrize("key", ["vit_not_square", "swin_padded"])
def test_side_by_side_has_the_maps_and_areas_of_the_single_views(key):
    captured, steps = capture_small(key), []
    asked = {"target": TARGET, "steps": 3, "seed": 5}
    result = vx.compute("side_by_side", captured, measure=True, **asked, progress=lambda *step: steps.append(step))
    assert (
        set(result.methods) | {name for name, _ in result.others}
        == dict(MethodsControl(known=explanations).offered(captured)).keys()
    )
    for at, name in enumerate(result.methods):
        one = explanation(name, captured, TARGET, 5, None)
        np.testing.assert_array_equal(result.own_values(at), one.values)
        assert (result.titles[at], result.units[at], result.grids[at]) == (one.title, one.unit, one.grid)
        for row, col in np.ndindex(result.values.shape[1:]):  # every fine cell has the number of the one it lies in
            middle = (np.array([row, col]) + 0.5) * result.grid.patch_size
            assert result.values[at, row, col] == one.values[tuple((middle // one.grid.patch_size).astype(int))]
    curves = vx.compute("faithfulness", captured, methods=result.methods, **asked)
    np.testing.assert_array_equal(result.areas, curves.areas)
    assert curves.notes[-2:] == result.notes[-2:]
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    assert steps[-1][0] == steps[-1][1] <= result.passes + len(result.methods)
    quick = vx.compute("side_by_side", captured, **asked)
    assert quick.areas is None
    np.testing.assert_array_equal(quick.values, result.values)


def test_rank_correlation_by_hand():
    """By hand: ranks 1, 2.5, 2.5, 4 against 4, 2.5, 2.5, 1 and against 1, 2, 3, 4: 4.5 / sqrt(4.5 * 5)."""
    first, turned, other = (np.array([row]) for row in ([0.0, 3, 3, 9], [8.0, 5, 5, 1], [1.0, 2, 3, 4]))
    assert ranks(first).tolist() == [1, 2.5, 2.5, 4]
    (least, *pair), *_, (most, *alike) = agreements(np.stack([first, turned, other, 0 * first]))
    assert (pair, alike) == ([0, 1], [0, 2])
    assert least == pytest.approx(-1)
    assert most == pytest.approx(4.5 / np.sqrt(4.5 * 5))


def test_every_method_that_can_be_compared_draws_one_map():
    captured = capture_small("vit")
    for name, title in MethodsControl(known=explanations).options:
        result = vx.compute(name, captured)
        assert isinstance(result, MapResult)
        assert title == result.title
