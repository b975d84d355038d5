"""Arrays of different shapes in one array."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np


def stacked(parts: Iterable[np.ndarray | Sequence[float]]) -> np.ndarray:
    """Stack arrays with the same number of axes, as floats; smaller ones are filled up with NaN."""
    arrays = [np.asarray(part) for part in parts]
    whole = np.full((len(arrays), *np.max([array.shape for array in arrays], axis=0)), np.nan)
    for at, array in enumerate(arrays):
        whole[(at, *map(slice, array.shape))] = array
    return whole
