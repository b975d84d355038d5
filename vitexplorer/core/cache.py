"""Caches bounded in bytes: what was not used for longest goes first, of all caches that share one memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Memory:
    """Bytes that several caches share; safe to share between threads.

    The newest value always stays, even one that is larger than the capacity.
    """

    def __init__(self, capacity: int):
        """Args: capacity: bytes of all values together, and of what is claimed."""
        self._capacity = capacity
        self._held: OrderedDict[tuple[BytesCache, Hashable], tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()
        self.nbytes = 0
        """of all values, and of what is claimed"""

    @contextmanager
    def claimed(self, nbytes: int) -> Iterator[None]:
        """Room for what is there for a while and is in no cache: it counts, and values make way for it."""
        with self._lock:
            self.nbytes += nbytes
            self._make_room()
        try:
            yield
        finally:
            with self._lock:
                self.nbytes -= nbytes

    def get(self, key: tuple[BytesCache, Hashable]) -> Any | None:
        """The value of a cache under a key, now the most recently used of all, or None."""
        with self._lock:
            if key not in self._held:
                return None
            self._held.move_to_end(key)
            return self._held[key][0]

    def put(self, key: tuple[BytesCache, Hashable], value: Any, size: int) -> None:
        """Keep a value of a cache; the oldest of all caches make room."""
        with self._lock:
            if key in self._held:
                self._count(key, -self._held.pop(key)[1], -1)
            self._held[key] = value, size
            self._count(key, size, 1)
            self._make_room()

    def _make_room(self) -> None:
        while len(self._held) > 1 and self.nbytes > self._capacity:
            key, (_, size) = self._held.popitem(last=False)
            self._count(key, -size, -1)

    def _count(self, key: tuple[BytesCache, Hashable], nbytes: int, values: int) -> None:
        self.nbytes += nbytes
        key[0].nbytes += nbytes
        key[0].values += values


class BytesCache(Generic[K, V]):
    """Least-recently-used values of one kind, in a memory of their own or in one that they share."""

    def __init__(self, memory: Memory | int, size: Callable[[V], int]):
        """An empty cache.

        Args:
            memory: where its values are; bytes for one of its own.
            size: how many bytes a value keeps alive.
        """
        self._memory = Memory(memory) if isinstance(memory, int) else memory
        self._size = size
        self.nbytes = 0
        """bytes of its values together"""
        self.values = 0
        """how many there are"""

    def get(self, key: K) -> V | None:
        """The value, now the most recently used, or None."""
        return self._memory.get((self, key))

    def put(self, key: K, value: V) -> None:
        """Keep a value and let go of the oldest ones that no longer fit."""
        self._memory.put((self, key), value, self._size(value))

    def __len__(self) -> int:
        """How many values there are."""
        return self.values
