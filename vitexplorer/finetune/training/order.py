"""Order of the training images: each once in an epoch, shuffled by seed and epoch."""

from __future__ import annotations

import numpy as np


def steps_of(images: int, batch_size: int) -> int:
    """Return the optimiser steps of an epoch for batches of about `batch_size`."""
    return max(1, round(images / batch_size))


def batches_of(images: int, batch_size: int, seed: int, epoch: int) -> list[np.ndarray]:
    """Return the positions (batch,) of every step of an epoch; sizes differ by at most one, so no step is tiny."""
    order = np.random.default_rng((seed, epoch)).permutation(images)
    return np.array_split(order, steps_of(images, batch_size))


def share_of(batch: np.ndarray, pieces: int, piece: int) -> np.ndarray:
    """Return the part of a batch that one of `pieces` processes computes; it may be empty."""
    return batch[piece::pieces]


def in_order(images: int, batch_size: int) -> list[np.ndarray]:
    """Return all positions in order, in batches, for values computed once for each image."""
    return [np.arange(start, min(start + batch_size, images)) for start in range(0, images, batch_size)]
