"""Disk cache of shrunk pictures as raw bytes, so that each photograph is decoded once.

Raw bytes, because after a lossy copy the second epoch would see other pixels than the first. Nothing is evicted,
because an epoch reads all images in turn and the oldest would be needed next. A full or failing disk costs only time:
pictures that cannot be stored are decoded again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from vitexplorer.storage.atomic_writes import beside_of

_VERSION = 1  # raise it when `open_shrunk` gives other pixels
_ENDING = ".rgb"
_COUNT_AGAIN = 64  # writes between measurements of the folder: other processes write too
_HEADER = np.dtype("<u4")


class PictureCache:
    """Pictures in a folder, at most `megabytes` (each process may exceed that by 64 pictures)."""

    def __init__(self, folder: Path, megabytes: int):
        self._folder = folder
        self._limit = megabytes * 10**6
        self._used = self._measured()
        self._writes = 0

    def get(self, source: Path, short_side: int, decode: Callable[[], np.ndarray]) -> np.ndarray:
        """Return `source` as uint8 (height, width, 3), from the cache or from `decode`.

        A file with another size or modification time is another picture. Raises the errors of `decode`.
        """
        try:
            status = source.stat()
        except OSError:
            return decode()  # raises the explained error
        identity = (_VERSION, os.fspath(source.absolute()), status.st_size, status.st_mtime_ns, short_side)
        place = self._folder / (hashlib.sha256(repr(identity).encode()).hexdigest()[:32] + _ENDING)
        cached = _read(place)
        if cached is not None:
            return cached
        pixels = decode()
        self._keep(place, pixels)
        return pixels

    def _keep(self, place: Path, pixels: np.ndarray) -> None:
        size = pixels.nbytes + 2 * _HEADER.itemsize
        if self._used + size <= self._limit and _written(place, pixels):
            self._used += size
            self._writes += 1
            if self._writes % _COUNT_AGAIN == 0:
                self._used = self._measured()

    def _measured(self) -> int:
        try:
            with os.scandir(self._folder) as entries:
                return sum(entry.stat().st_size for entry in entries if entry.name.endswith(_ENDING))
        except OSError:
            return 0


def _read(place: Path) -> np.ndarray | None:
    try:
        raw = np.fromfile(place, np.uint8)
        height, width = raw[: 2 * _HEADER.itemsize].view(_HEADER).tolist()
        return raw[2 * _HEADER.itemsize :].reshape(height, width, 3)
    except (OSError, ValueError):  # ValueError: a truncated file
        return None


def _written(place: Path, pixels: np.ndarray) -> bool:
    """Write the picture atomically; return False if the disk refuses."""
    beside = beside_of(place)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(np.array(pixels.shape[:2], _HEADER).tobytes() + pixels.tobytes())
        os.replace(beside, place)
    except OSError:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        return False
    return True
