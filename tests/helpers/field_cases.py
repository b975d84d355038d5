"""Cases for `benchmarks.field.fresh`, in a module without imports, since their processes import it."""

from __future__ import annotations

from collections.abc import Callable

MEGABYTE = 1 << 20


def takes(megabytes: int) -> Callable[[], object]:
    """Return work that needs so much memory; preparing it takes more, which must not be counted."""
    _ = b"1" * (200 * MEGABYTE)
    return lambda: bytearray(b"1" * (megabytes * MEGABYTE // 2))


def fails() -> Callable[[], object]:
    """Fail during preparation."""
    raise ValueError("a case that fails")
