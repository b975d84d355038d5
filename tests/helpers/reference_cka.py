"""Slow twins of CKA and of the tokens that it compares, with loops over entries and places."""

from __future__ import annotations

import math

import numpy as np

from tests.helpers import reference_tokens
from vitexplorer.capturing.capture import Capture


def slow_cka(X: np.ndarray, Y: np.ndarray) -> float:
    """Compute |Y^T X|_F^2 / (|X^T X|_F |Y^T Y|_F) of centred columns, entry by entry."""
    X, Y = X - X.mean(0), Y - Y.mean(0)

    def squared(A: np.ndarray, B: np.ndarray) -> float:
        return math.fsum(reference_tokens.dot(a, b) ** 2 for a in A.T for b in B.T)

    return squared(X, Y) / math.sqrt(squared(X, X) * squared(Y, Y))


def slow_places(capture: Capture, block: int, rows: int, cols: int) -> np.ndarray:
    """Return for each cell of the coarser grid the mean of the tokens whose centres lie in it."""
    grid, found = capture.grid(block), []
    tokens = capture.residual_after(block).double().numpy()[len(capture.prefix_tokens) :]
    for r in range(rows):
        for c in range(cols):
            inside = [
                tokens[i * grid.cols + j]
                for i in range(grid.rows)
                for j in range(grid.cols)
                if r / rows <= (i + 0.5) / grid.rows < (r + 1) / rows
                if c / cols <= (j + 0.5) / grid.cols < (c + 1) / cols
            ]
            found.append(np.mean(inside, axis=0))
    return np.array(found)
