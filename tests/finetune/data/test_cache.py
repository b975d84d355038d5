"""Disk cache of decoded images: same pixels, bounded, and dispensable."""

from __future__ import annotations

import errno
import os

import numpy as np

from tests.helpers.image_folders import fill, small
from vitexplorer.finetune.data import PictureCache
from vitexplorer.models.images import open_shrunk


def test_the_cache_gives_the_same_pixels_without_decoding_until_the_file_changes(tmp_path):
    source = fill(tmp_path, {"a.png": small(1)}) / "a.png"
    cache, decoded = PictureCache(tmp_path / "cache", 10), []

    def decode() -> np.ndarray:
        decoded.append(open_shrunk(source, 40).pixels)
        return decoded[-1]

    assert np.array_equal(cache.get(source, 40, decode), cache.get(source, 40, decode))
    assert np.array_equal(PictureCache(tmp_path / "cache", 10).get(source, 40, decode), decoded[0])
    assert len(decoded) == 1
    assert cache.get(source, 30, lambda: decoded[0][:30]).shape[0] == 30
    source.write_bytes(small(99) + b"\0")
    assert not np.array_equal(cache.get(source, 40, decode), decoded[0])
    assert len(decoded) == 2


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
