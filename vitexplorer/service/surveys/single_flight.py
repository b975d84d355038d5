"""Single flight: a slow value that several threads ask for is made once, and other keys need not wait."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class SingleFlight(Generic[_Key, _Value]):
    """Cache of slow values, one version a key, that makes each value in one thread only."""

    def __init__(self, most: int):
        """Make an empty cache.

        Args:
            most: values to keep; the least recently used go first.
        """
        self._most = most
        self._lock = threading.Lock()
        self._values: OrderedDict[_Key, tuple[Hashable, _Value]] = OrderedDict()
        self._locks: WeakValueDictionary[_Key, threading.Lock] = WeakValueDictionary()

    def of(self, key: _Key, version: Hashable, make: Callable[[], _Value]) -> _Value:
        """Return the value of a key in this version, making it if need be; only callers of the same key wait."""
        with self._lock:
            key_lock = self._locks.setdefault(key, threading.Lock())
        with key_lock:
            with self._lock:
                entry = self._values.pop(key, None)
            value = entry[1] if entry and entry[0] == version else make()
            with self._lock:
                self._values[key] = version, value
                while len(self._values) > self._most:
                    self._values.popitem(last=False)
            return value
