"""Which images each step learns from: all of them once in an epoch, in an order that seed and epoch decide."""

from __future__ import annotations

import numpy as np


def steps_of(images: int, batch_size: int) -> int:
    """Optimiser steps of an epoch: as many as give batches of about `batch_size`."""
    return max(1, round(images / batch_size))


def batches_of(images: int, batch_size: int, seed: int, epoch: int) -> list[np.ndarray]:
    """Positions (batch,) of every step of an epoch; sizes differ by at most one, so that no step has a lone image."""
    order = np.random.default_rng((seed, epoch)).permutation(images)
    return np.array_split(order, steps_of(images, batch_size))


def share_of(batch: np.ndarray, pieces: int, piece: int) -> np.ndarray:
    """The part of a batch that one of `pieces` processes or turns computes; may be empty where images are few."""
    return batch[piece::pieces]


def in_order(images: int, batch_size: int) -> list[np.ndarray]:
    """Positions from the first to the last, in batches, for what is computed once for each image."""
    return [np.arange(start, min(start + batch_size, images)) for start in range(0, images, batch_size)]
