"""Outliers, by hand."""

from __future__ import annotations

import numpy as np

from vitexplorer.quantities.outliers import far_out


def test_far_out_by_hand():
    """Quartiles of 1 2 3 4 5 are 2 and 4: far out is beyond 4 + 3 x 2 = 10."""
    assert far_out(np.array([1.0, 2, 3, 4, 5])).tolist() == [False] * 5
    assert far_out(np.array([1.0, 2, 3, 4, 10])).tolist() == [False] * 5
    assert far_out(np.array([1.0, 2, 3, 4, 10.1])).tolist() == [False] * 4 + [True]
