"""The order of images: each once an epoch, shared among processes without overlap."""

from __future__ import annotations

import numpy as np
import pytest

from vitexplorer.finetune.training.order import batches_of, share_of


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
