"""Least-recently-used caches bounded in bytes; several of them can share one budget."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Memory:
    """Budget of bytes that several caches share; safe to share between threads.

    The newest value always stays, even one that is larger than the capacity.
    """

    def __init__(self, capacity: int):
        self._capacity = capacity  # bytes of all values and claims together
        self._entries: OrderedDict[tuple[BytesCache, Hashable], tuple[Any, int]] = OrderedDict()
        self._lock = threading.RLock()  # a value may be dropped by garbage collection, while this thread holds the lock
        self.nbytes = 0
        """Bytes of all values and claims"""

    @contextmanager
    def claimed(self, nbytes: int) -> Iterator[None]:
        """Reserve bytes for something that is in no cache; values are dropped to make room."""
        with self._lock:
            self.nbytes += nbytes
            self._make_room()
        try:
            yield
        finally:
            with self._lock:
                self.nbytes -= nbytes

    def get(self, key: tuple[BytesCache, Hashable]) -> Any | None:
        """Return a cache's value, now the most recently used of all, or None."""
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            return self._entries[key][0]

    def put(self, key: tuple[BytesCache, Hashable], value: Any, size: int) -> None:
        """Store a cache's value; the oldest values of all caches make room."""
        with self._lock:
            self.drop(key)
            self._entries[key] = value, size
            self._count(key, size, 1)
            self._make_room()

    def drop(self, key: tuple[BytesCache, Hashable]) -> None:
        """Forget a cache's value, if it is still there."""
        with self._lock:
            if key in self._entries:
                self._count(key, -self._entries.pop(key)[1], -1)

    def _make_room(self) -> None:
        while len(self._entries) > 1 and self.nbytes > self._capacity:
            key, (_, size) = self._entries.popitem(last=False)
            self._count(key, -size, -1)

    def _count(self, key: tuple[BytesCache, Hashable], nbytes: int, values: int) -> None:
        self.nbytes += nbytes
        key[0].nbytes += nbytes
        key[0].values += values


class BytesCache(Generic[K, V]):
    """Least-recently-used values of one kind, whose `size` tells the bytes that one keeps alive.

    The memory is one that other caches share, or the capacity of an own one in bytes.
    """

    def __init__(self, memory: Memory | int, size: Callable[[V], int]):
        self._memory = Memory(memory) if isinstance(memory, int) else memory
        self._size = size
        self.nbytes = 0
        """Bytes of all its values"""
        self.values = 0
        """Number of values"""

    def get(self, key: K) -> V | None:
        """Return the value, now the most recently used, or None."""
        return self._memory.get((self, key))

    def get_or_make(self, key: K, make: Callable[[], V]) -> V:
        """Return the value, made and stored if it is not there."""
        value = self.get(key)
        if value is None:
            value = make()
            self.put(key, value)
        return value

    def put(self, key: K, value: V) -> None:
        """Store a value and drop the oldest ones that no longer fit."""
        self._memory.put((self, key), value, self._size(value))

    def drop(self, key: K) -> None:
        """Forget a value, if it is still there."""
        self._memory.drop((self, key))

    def __len__(self) -> int:
        """Count the values."""
        return self.values


class SingleFlight(Generic[K, V]):
    """Cache of slow values, one version a key, each made in one thread only while other keys need not wait."""

    def __init__(self, most: int):
        """Make an empty cache that keeps the `most` values used last."""
        self._values: BytesCache[K, tuple[Hashable, V]] = BytesCache(most, lambda _: 1)
        self._lock = threading.Lock()
        self._locks: WeakValueDictionary[K, threading.Lock] = WeakValueDictionary()

    def of(self, key: K, version: Hashable, make: Callable[[], V]) -> V:
        """Return the value of a key in this version, making it if need be; only callers of the same key wait."""
        with self._lock:
            key_lock = self._locks.setdefault(key, threading.Lock())
        with key_lock:
            entry = self._values.get(key)
            if entry is None or entry[0] != version:
                entry = version, make()
                self._values.put(key, entry)
            return entry[1]
