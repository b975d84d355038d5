"""Images and learning rate of each step.

Both are functions of the plan and the step, so that a resumed run has nothing to restore.
"""

from __future__ import annotations

import math

import numpy as np


def steps_of(images: int, batch_size: int) -> int:
    """Return the optimiser steps of an epoch for batches of about `batch_size`."""
    return max(1, round(images / batch_size))


def batches_of(images: int, batch_size: int, seed: int, epoch: int) -> list[np.ndarray]:
    """Return the positions (batch,) of every step of an epoch, each image once; sizes differ by at most one."""
    order = np.random.default_rng((seed, epoch)).permutation(images)
    return np.array_split(order, steps_of(images, batch_size))


def share_of(batch: np.ndarray, pieces: int, piece: int) -> np.ndarray:
    """Return the part of a batch that one of `pieces` processes computes; it may be empty."""
    return batch[piece::pieces]


def in_order(images: int, batch_size: int) -> list[np.ndarray]:
    """Return all positions in order, in batches, for values computed once for each image."""
    return [np.arange(start, min(start + batch_size, images)) for start in range(0, images, batch_size)]


def rate_at(step: int, steps: int, warmup: float) -> float:
    """Return the share of the peak learning rate, 0-1, at step `step` of `steps`, counted from 0.

    The first `warmup * steps` steps (rounded) rise linearly to 1; then half a cosine falls, to 0 one step after the
    last (Loshchilov & Hutter 2017, arXiv 1608.03983, without restarts).
    """
    rising = round(warmup * steps)
    if step < rising:
        return (step + 1) / rising
    return 0.5 * (1 + math.cos(math.pi * (step - rising) / max(1, steps - rising)))
