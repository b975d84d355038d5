"""A cache bounded in bytes: what was not used for longest goes first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BytesCache(Generic[K, V]):
    """Least-recently-used values that together take at most `capacity` bytes; safe to share between threads.

    The newest value always stays, even one that is larger than the capacity.
    """

    def __init__(self, capacity: int, size: Callable[[V], int]):
        """Args: capacity: bytes; size: how many bytes a value keeps alive."""
        self._capacity, self._size = capacity, size
        self._held: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()
        self.nbytes = 0
        """bytes of all values together"""

    def get(self, key: K) -> V | None:
        """The value, now the most recently used, or None."""
        with self._lock:
            if key not in self._held:
                return None
            self._held.move_to_end(key)
            return self._held[key][0]

    def put(self, key: K, value: V) -> None:
        """Keep a value and let go of the oldest ones that no longer fit."""
        size = self._size(value)
        with self._lock:
            _, before = self._held.pop(key, (None, 0))
            self._held[key] = (value, size)
            self.nbytes += size - before
            while len(self._held) > 1 and self.nbytes > self._capacity:
                _, (_, gone) = self._held.popitem(last=False)
                self.nbytes -= gone

    def __len__(self) -> int:
        """How many values there are."""
        return len(self._held)
