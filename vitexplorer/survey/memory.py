"""A process that runs batch after batch keeps the memory of one for the next.

The C library gives large blocks back to the system as soon as they are free, and has every page of the next ones
cleared anew: for what a capture keeps that is 5-10 % of a forward pass. `mallopt(3)` of glibc; other C libraries have
none and keep their own ways.
"""

from __future__ import annotations

import ctypes

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX = -1, -2, -4
_MOST = 2**31 - 1
_AT_ONCE = 1 << 26


def keep_freed_memory() -> bool:
    """From now on this process keeps what it has freed; whether that could be arranged. For processes of their own."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    wanted = ((_MMAP_MAX, 0), (_TRIM_THRESHOLD, _MOST), (_TOP_PAD, _AT_ONCE))
    taken = [mallopt(name, value) == 1 for name, value in wanted]
    return all(taken)
