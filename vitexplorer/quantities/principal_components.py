"""Principal components with reproducible signs: the same numbers always give the same picture."""

from __future__ import annotations

from typing import Literal

import numpy as np
from jaxtyping import Float


def principal_components(
    rows: Float[np.ndarray, "rows features"], count: int, solver: Literal["full", "covariance_eigh"] = "full"
) -> tuple[Float[np.ndarray, "components features"], Float[np.ndarray, " components"]]:
    """Return the directions of largest variance, of length 1, largest first, with each one's share of the variance.

    Each is turned so that its entry of largest magnitude is positive. There are fewer than `count` if the centred rows
    span fewer directions, and none if all rows are equal. The solver `covariance_eigh` is faster for many rows; its
    singular values are exact to 1e-8 of the largest.
    """
    from sklearn.decomposition import PCA  # here: two seconds of import that no other picture needs

    if not np.ptp(rows, axis=0).any():
        return rows[:0], np.zeros(0)
    fitted = PCA(svd_solver=solver).fit(rows)
    precision = np.finfo(float).eps if solver == "full" else np.sqrt(np.finfo(float).eps)
    spanned = fitted.singular_values_ > fitted.singular_values_[0] * max(rows.shape) * precision
    count = min(count, int(spanned.sum()))
    components = fitted.components_[:count]
    largest = np.abs(components).argmax(1, keepdims=True)
    turned = components * np.sign(np.take_along_axis(components, largest, axis=1))
    return turned, fitted.explained_variance_ratio_[:count]
