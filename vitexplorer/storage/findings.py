"""Findings about a user's images: one sentence each, with the files concerned."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from vitexplorer.core.text import ExplainedError, Text

Level = Literal["stops", "warning", "note"]

_MOST_NAMES = 3
_MOST_CHARACTERS = 60


class DataError(ExplainedError):
    """Raised for images or a table that cannot be used; the message says why and how to mend it."""


@dataclass(frozen=True)
class Finding:
    """One finding."""

    kind: str
    """A stable key: "unreadable", "imbalance", ..."""
    level: Level
    """"stops": no training makes sense before it is mended; "warning": look at it; "note": good to know"""
    text: Text
    names: tuple[str, ...] = ()
    """All files or classes concerned, ready to be shown; the sentence names the first ones"""


def finding(kind: str, level: Level, text: Text, names: Iterable[str] = (), **values: object) -> Finding:
    """Make a finding; {count} and {names} of its `text` are filled in from `names`, the rest from `values`."""
    readable = tuple(map(readable_name, names))
    return Finding(kind, level, text.format(count=len(readable), names=listed(readable), **values), readable)


def findings_of(kinds: Iterable[tuple[str, Level, Text, Collection[str]]], **values: object) -> list[Finding]:
    """Make a finding of each kind with names: its key, level, text and names as in `finding`."""
    return [finding(kind, level, text, names, **values) for kind, level, text, names in kinds if len(names)]


def listed(names: Sequence[str]) -> Text:
    """Quote the first names in a row; "..." stands for the rest."""
    first = [name if len(name) <= _MOST_CHARACTERS else name[:_MOST_CHARACTERS] + "…" for name in names[:_MOST_NAMES]]
    more = len(names) > _MOST_NAMES
    return Text(
        ", ".join(f'"{name}"' for name in first) + (", ..." if more else ""),
        "、".join(f"“{name}”" for name in first) + ("等" if more else ""),
    )


def quoted(path: Path) -> Text:
    """Quote the name of a file or folder."""
    name = readable_name(path.name or str(path))
    return Text(f'"{name}"', f"“{name}”")


def readable_name(name: str) -> str:
    """Clean a name from a disk, to show, store and compare it: valid Unicode, composed (NFC), one line.

    Bytes that are no UTF-8 are read as GB 18030, which Chinese Windows writes, or replaced; so are control characters
    and the marks that turn the direction of the text around them.
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        name = _decoded(os.fsencode(name))
    name = unicodedata.normalize("NFC", name)
    return "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cs") or c in _DIRECTION_MARKS else c for c in name)


_DIRECTION_MARKS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029")


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("gb18030")
    except UnicodeDecodeError:
        return raw.decode(errors="replace")
