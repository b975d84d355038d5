"""Things that are slow to make and asked for by many: each is made once, and nobody waits for another's."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

_Place = TypeVar("_Place", bound=Hashable)
_Thing = TypeVar("_Thing")


class SingleFlight(Generic[_Place, _Thing]):
    """The things that were asked for last, one of each place; a newer version takes the place of an older one."""

    def __init__(self, most: int):
        """Args: most: things that are kept."""
        self._most, self._lock = most, threading.Lock()
        self._kept: OrderedDict[_Place, tuple[Hashable, _Thing]] = OrderedDict()
        self._making: WeakValueDictionary[_Place, threading.Lock] = WeakValueDictionary()

    def of(self, place: _Place, version: Hashable, make: Callable[[], _Thing]) -> _Thing:
        """The thing of a place in this version; who asks for the same one while it is made waits, nobody else does."""
        with self._lock:
            making = self._making.setdefault(place, threading.Lock())
        with making:
            with self._lock:
                found = self._kept.pop(place, None)
            thing = found[1] if found and found[0] == version else make()
            with self._lock:
                self._kept[place] = version, thing
                while len(self._kept) > self._most:
                    self._kept.popitem(last=False)
            return thing
