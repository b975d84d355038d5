"""Cases for `benchmarks.field.fresh`, in a module that imports nothing: their processes import it."""

from __future__ import annotations

from collections.abc import Callable

MEGABYTE = 1 << 20


def takes(megabytes: int) -> Callable[[], object]:
    """Work that needs so much; to prepare it takes more, which counts for nothing."""
    _ = b"1" * (200 * MEGABYTE)
    return lambda: bytearray(b"1" * (megabytes * MEGABYTE // 2))


def fails() -> Callable[[], object]:
    """What cannot be prepared."""
    raise ValueError("a case that fails")
