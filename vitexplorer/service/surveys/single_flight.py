"""Single flight: a slow value that several threads ask for is made once, and other keys need not wait."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

from vitexplorer.core.cache import BytesCache

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class SingleFlight(Generic[_Key, _Value]):
    """Cache of slow values, one version a key, that makes each value in one thread only."""

    def __init__(self, most: int):
        """Make an empty cache that keeps the `most` values used last."""
        self._lock = threading.Lock()
        self._values: BytesCache[_Key, tuple[Hashable, _Value]] = BytesCache(most, lambda _: 1)
        self._locks: WeakValueDictionary[_Key, threading.Lock] = WeakValueDictionary()

    def of(self, key: _Key, version: Hashable, make: Callable[[], _Value]) -> _Value:
        """Return the value of a key in this version, making it if need be; only callers of the same key wait."""
        with self._lock:
            key_lock = self._locks.setdefault(key, threading.Lock())
        with key_lock:
            entry = self._values.get(key)
            if entry is None or entry[0] != version:
                entry = version, make()
                self._values.put(key, entry)
            return entry[1]
