"""Steps of a training: each image once an epoch, shared among processes without overlap; the learning rate, by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from vitexplorer.finetune.training.steps import batches_of, rate_at, share_of


@pytest.mark.parametrize(("images", "size"), [(36, 16), (5, 16), (100, 7), (1, 4)])
def test_an_epoch_shows_every_image_once(images, size):
    batches = batches_of(images, size, seed=3, epoch=1)
    assert sorted(np.concatenate(batches).tolist()) == list(range(images))
    assert max(map(len, batches)) - min(map(len, batches)) <= 1
    again, other = batches_of(images, size, 3, 1), batches_of(images, size, 3, 2)
    assert all((a == b).all() for a, b in zip(batches, again, strict=True))
    assert images < 5 or any((a != b).any() for a, b in zip(batches, other, strict=True))


def test_processes_share_a_batch_without_overlap():
    batch = np.arange(10)
    shares = [share_of(batch, 3, piece) for piece in range(3)]
    assert sorted(np.concatenate(shares).tolist()) == batch.tolist()


def test_the_rate_rises_then_falls_as_a_cosine():
    rates = [rate_at(step, 20, 0.1) for step in range(20)]
    assert rates[:3] == [0.5, 1.0, 1.0]  # 2 steps of warm-up; the cosine begins at its top
    assert rates[11] == pytest.approx(0.5)  # half of the 18 steps after them
    assert all(a > b for a, b in itertools.pairwise(rates[2:]))
    assert 0 < rates[-1] < 0.01
    assert rate_at(0, 1, 0.0) == 1
