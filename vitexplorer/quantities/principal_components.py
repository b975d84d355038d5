"""Principal components whose signs do not depend on chance: the same numbers give the same picture every time."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float


def principal_components(
    rows: Float[np.ndarray, "rows features"], count: int
) -> tuple[Float[np.ndarray, "components features"], Float[np.ndarray, " components"]]:
    """Directions in which rows differ most, most first, of length 1, and each one's share of the variance.

    Each is turned so that its entry of largest magnitude is positive. Fewer than `count` where the rows, taken from
    their mean, span fewer directions; none where they are all alike.
    """
    from sklearn.decomposition import PCA  # here: two seconds of import that no other picture needs

    if not np.ptp(rows, axis=0).any():
        return rows[:0], np.zeros(0)
    found = PCA(svd_solver="full").fit(rows)
    spanned = found.singular_values_ > found.singular_values_[0] * max(rows.shape) * np.finfo(float).eps
    count = min(count, int(spanned.sum()))
    components = found.components_[:count]
    largest = np.abs(components).argmax(1, keepdims=True)
    turned = components * np.sign(np.take_along_axis(components, largest, axis=1))
    return turned, found.explained_variance_ratio_[:count]
