"""Reuse of freed memory from batch to batch.

The C library returns large blocks to the system as soon as they are freed, and the system clears every page of the next
ones: for the tensors of a capture this costs 5-10 % of a forward pass. Uses `mallopt(3)` of glibc; other C libraries
lack it and are left as they are.
"""

from __future__ import annotations

import ctypes

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX = -1, -2, -4
_MOST = 2**31 - 1
_AT_ONCE = 1 << 26


def keep_freed_memory() -> bool:
    """Make this process keep freed memory; return True on success. For dedicated worker processes."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    options = ((_MMAP_MAX, 0), (_TRIM_THRESHOLD, _MOST), (_TOP_PAD, _AT_ONCE))
    results = [mallopt(name, value) == 1 for name, value in options]
    return all(results)
