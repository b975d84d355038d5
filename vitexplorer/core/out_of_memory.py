"""One sentence for memory that ran out, whichever library noticed: Python, NumPy, Arrow, or torch."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager

from vitexplorer.core.text import ExplainedError, Text

_SAID = re.compile(
    r"(out of|not enough|insufficient) memory|(can't|cannot|unable to) allocate",
    re.IGNORECASE,
)
_WANTED = re.compile(r"(?:allocate|allocation of)\D{0,20}?([\d.]+) ?(bytes|[KMGTPE]iB)", re.IGNORECASE)
_UNITS = {"bytes": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40, "pib": 2**50, "eib": 2**60}


class NoMemoryError(ExplainedError):
    """There was no room in memory; the message says how much was wanted, where that is known."""


@contextmanager
def full_memory_is_a_sentence() -> Iterator[None]:
    """Turn what libraries raise where memory runs out into a NoMemoryError."""
    try:
        yield
    except Exception as error:
        full = memory_full(error)
        if full is None or full is error:
            raise
        raise full from error


def memory_full(error: BaseException) -> NoMemoryError | None:
    """The sentence for an error, where that is for want of memory."""
    if isinstance(error, NoMemoryError):
        return error
    is_full = isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM
    if not is_full and not (isinstance(error, RuntimeError) and _SAID.search(str(error))):
        return None
    wanted = _wanted(str(error))
    if wanted is None:
        return NoMemoryError(_FULL.format(wanted=""))
    return NoMemoryError(_FULL.format(wanted=_OF.format(megabytes=f"{wanted / 1e6:,.0f}")))


def _wanted(said: str) -> float | None:
    found = _WANTED.search(said)
    return float(found[1].rstrip(".")) * _UNITS[found[2].lower()] if found else None


_OF = Text(" ({megabytes} MB more were wanted)", "（还需要 {megabytes} MB）")
_FULL = Text(
    "There is not enough memory{wanted}. Choose a smaller size, a smaller model or fewer images at once; what was made "
    "before is kept.",
    "内存不足{wanted}。请选择更小的尺寸、更小的模型或更少的同时处理图像；此前得到的内容已保留。",
)
