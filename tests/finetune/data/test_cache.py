"""Disk cache of decoded images: same pixels, bounded, and dispensable."""

from __future__ import annotations

import errno
import os
from importlib import import_module

import numpy as np

from tests.helpers.image_folders import fill, pets, small
from vitexplorer.finetune.data import (
    PictureCache,
    Pictures,
    read_folder,
)


def test_the_cache_gives_the_same_pixels_without_decoding_until_the_file_changes(tmp_path, monkeypatch):
    dataset = read_folder(fill(tmp_path / "pets", pets(2)))
    plain = [Pictures(dataset, short_side=40)[i][0] for i in range(4)]
    pictures = Pictures(dataset, short_side=40, cache=PictureCache(tmp_path / "cache", 10))
    assert all(np.array_equal(pictures[i][0], plain[i]) for i in range(4))
    monkeypatch.setattr(import_module("vitexplorer.finetune.data.pictures"), "open_shrunk", None)
    assert all(np.array_equal(pictures[i][0], plain[i]) for i in range(4))
    monkeypatch.undo()
    dataset.path(0).write_bytes(small(99) + b"\0")
    assert not np.array_equal(pictures[0][0], plain[0])
    assert Pictures(dataset, short_side=30, cache=PictureCache(tmp_path / "cache", 10))[1][0].shape[0] == 30


def test_the_cache_is_bounded_and_counts_what_others_wrote(tmp_path):
    source = fill(tmp_path, {f"{i}.png": small(i) for i in range(6)})
    big = np.zeros((500, 500, 3), np.uint8)  # 0.75 MB
    for _ in range(2):
        cache = PictureCache(tmp_path / "cache", 2)
        for i in range(6):
            assert cache.get(source / f"{i}.png", 500, lambda: big) is big or i < 2
    assert len(os.listdir(tmp_path / "cache")) == 2
    PictureCache(tmp_path / "none", 0).get(source / "1.png", 500, lambda: big)
    assert not (tmp_path / "none").exists()


def test_a_cache_on_a_full_disk_costs_time_only(tmp_path, monkeypatch):
    source = fill(tmp_path, {"a.png": small(1)}) / "a.png"
    pixels = np.ones((9, 8, 3), np.uint8)

    def full(*arguments):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "replace", full)
    cache = PictureCache(tmp_path / "cache", 10)
    assert np.array_equal(cache.get(source, 9, lambda: pixels), pixels)
    assert os.listdir(tmp_path / "cache") == []
    monkeypatch.undo()
    assert np.array_equal(cache.get(source, 9, lambda: pixels), pixels)
    (cached,) = (tmp_path / "cache").iterdir()
    cached.write_bytes(cached.read_bytes()[:50])  # the power failed
    assert np.array_equal(cache.get(source, 9, lambda: pixels), pixels)
    (tmp_path / "file").write_bytes(b"")
    assert np.array_equal(PictureCache(tmp_path / "file", 10).get(source, 9, lambda: pixels), pixels)
