"""One error for memory that ran out, whichever library noticed: Python, NumPy, Arrow, or torch."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager

from vitexplorer.core.text import ExplainedError, Text

_OUT_OF_MEMORY = re.compile(r"(out of|not enough|insufficient) memory|(can't|cannot|unable to) allocate", re.IGNORECASE)
_REQUEST = re.compile(r"(?:allocate|allocation of)\D{0,20}?([\d.]+) ?(bytes|[KMGTPE]iB)", re.IGNORECASE)
_UNITS = {"bytes": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40, "pib": 2**50, "eib": 2**60}


class NoMemoryError(ExplainedError):
    """Raised when memory runs out; the message gives the missing amount where it is known."""


@contextmanager
def explain_full_memory() -> Iterator[None]:
    """Turn the errors of libraries that run out of memory into NoMemoryError."""
    try:
        yield
    except Exception as error:
        full = memory_full(error)
        if full is None or full is error:
            raise
        raise full from error


def memory_full(error: BaseException) -> NoMemoryError | None:
    """Return the NoMemoryError for an error that reports full memory, else None."""
    if isinstance(error, NoMemoryError):
        return error
    is_full = isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM
    if not is_full and not (isinstance(error, RuntimeError) and _OUT_OF_MEMORY.search(str(error))):
        return None
    size = _requested_bytes(str(error))
    amount = "" if size is None else _AMOUNT.format(megabytes=f"{size / 1e6:,.0f}")
    return NoMemoryError(_FULL.format(amount=amount))


def _requested_bytes(message: str) -> float | None:
    match = _REQUEST.search(message)
    return float(match[1].rstrip(".")) * _UNITS[match[2].lower()] if match else None


_AMOUNT = Text(" ({megabytes} MB more were needed)", "（还需要 {megabytes} MB）")
_FULL = Text(
    "There is not enough memory{amount}. Choose a smaller size, a smaller model or fewer images at once; earlier "
    "results are still here.",
    "内存不足{amount}。请选择更小的尺寸或更小的模型，或减少同时处理的图像；此前得到的内容已保留。",
)
