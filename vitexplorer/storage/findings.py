"""What there is to say about somebody's images: one sentence each, and the files that it is about."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from vitexplorer.core.text import ExplainedError, Text

Level = Literal["stops", "warning", "note"]

_SHOWN_NAMES = 3
_SHOWN_CHARACTERS = 60


class DataError(ExplainedError):
    """Images or a table that cannot be used; the message says why and how to mend it."""


@dataclass(frozen=True)
class Finding:
    """One thing that was found."""

    kind: str
    """a key that never changes: "unreadable", "imbalance", ..."""
    level: Level
    """"stops": no training makes sense before it is mended; "warning": look at it; "note": good to know"""
    text: Text
    names: tuple[str, ...] = ()
    """all files or classes it is about, ready to be shown; the sentence names the first ones"""


def finding(kind: str, level: Level, text: Text, names: Sequence[str] = (), **values: object) -> Finding:
    """A finding whose sentence is `text` with {count} and {names} filled in from `names`, the rest from `values`."""
    readable = tuple(map(readable_name, names))
    return Finding(kind, level, text.format(count=len(readable), names=listed(readable), **values), readable)


def listed(names: Sequence[str]) -> Text:
    """The first names, quoted, in a row; "..." stands for the rest."""
    shown = [name if len(name) <= _SHOWN_CHARACTERS else name[:_SHOWN_CHARACTERS] + "…" for name in names]
    more = len(shown) > _SHOWN_NAMES
    shown = shown[:_SHOWN_NAMES]
    return Text(
        ", ".join(f'"{name}"' for name in shown) + (", ..." if more else ""),
        "、".join(f"“{name}”" for name in shown) + ("等" if more else ""),
    )


def readable_name(name: str) -> str:
    """A name from a disk as text that can be shown, stored and compared: valid, composed (NFC), one line.

    Bytes that are no UTF-8 are read as GB 18030, which Chinese Windows writes, or replaced; so are control characters
    and the marks that turn the direction of the text around them.
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        name = _decoded(os.fsencode(name))
    name = unicodedata.normalize("NFC", name)
    return "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cs") or c in _TURNING else c for c in name)


_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029")


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("gb18030")
    except UnicodeDecodeError:
        return raw.decode(errors="replace")
