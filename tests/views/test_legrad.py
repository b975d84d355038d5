"""LeGrad against its slow twin."""

from __future__ import annotations

import pytest

import vitexplorer as vx
from tests.helpers import reference_relevance
from tests.helpers.relevance_cases import TARGET, close, truth_of
from vitexplorer.core.text import UnsupportedError


def test_legrad(any_capture):
    if any_capture.site(0).windows:
        with pytest.raises(UnsupportedError):
            vx.compute("legrad", any_capture)
        return
    expected, grid = truth_of(any_capture), any_capture.grid(0)
    keys = reference_relevance.legrad(expected.own_gradient)
    result = vx.compute("legrad", any_capture, target=TARGET)
    close(result.values, keys[grid.num_prefix_tokens :].reshape(grid.rows, grid.cols))
