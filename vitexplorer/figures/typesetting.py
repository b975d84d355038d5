"""Typesetting of plain text for plotly: escaped, and broken into lines of a given width.

Plotly reads a subset of HTML in every string, so the name of an uploaded file must not be read as a tag. SVG breaks
neither lines nor control characters, so both are handled here.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable
from functools import cache

from vitexplorer.core.text import Text

LINE_HEIGHT = 1.3  # plotly's own, in units of the font size

_CJK = r"\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"
CLOSING = "\u3001\u3002\uff0c\uff1a\uff1b\uff09\u201d"  # marks that may not begin a line
OPENING = "\uff08\u201c"  # marks that may not end a line
_SPACE = r" \t\r\n"  # not the no-break space
_WORD = rf"[^{_SPACE}{_CJK}]+"
_PIECES = re.compile(rf"[{OPENING}]*[{_CJK}][{CLOSING}]*|{_WORD}[{CLOSING}]*|[{_SPACE}]+")
_NARROW, _WIDE, _CAPITAL = 0.53, 1.0, 0.66  # mean advance in units of the font size, a little generous


def escape(text: object) -> str:
    """Return `text` for plotly to show letter by letter: no tags, no TeX, no control characters."""
    printable = "".join("\ufffd" if unicodedata.category(char) in ("Cc", "Cs") else char for char in str(text))
    return html.escape(printable, quote=False).replace("$", "&#36;")


def markup_of(lines: Iterable[str]) -> str:
    """Return lines of text in plotly's markup."""
    return "<br>".join(map(escape, lines))


@cache
def _advance(char: str) -> float:
    """Estimate the width of a letter, in units of the font size."""
    if unicodedata.east_asian_width(char) in "WF":
        return _WIDE
    return _CAPITAL if char.isupper() or char in "mwMW@%—…→√" else _NARROW


def width(text: str, size: float) -> float:
    """Estimate the pixels that `text` takes on one line."""
    return size * sum(map(_advance, text))


def wrap(text: str, pixels: float, size: float) -> list[str]:
    """Break into lines of at most `pixels`: at spaces, between Chinese characters and, if need be, within names."""
    lines, line = [], ""
    for found in _PIECES.finditer(text):
        piece = found[0]
        if line and width(line + piece.rstrip(), size) > pixels:
            lines.append(line.rstrip())
            line = ""
            piece = piece.lstrip()
        while width(piece, size) > pixels and len(piece) > 1:
            at = _break_within(piece, pixels, size)
            lines.append(piece[:at])
            piece = piece[at:]
        line += piece
    return [*lines, line.rstrip()] if line.strip() or not lines else lines


def first_line(text: str, pixels: float, size: float) -> str:
    """Return what fits on one line, with an ellipsis if that is not all."""
    line, *more = wrap(text, pixels, size)
    return line + "…" if more else line


def _break_within(piece: str, pixels: float, size: float) -> int:
    """Return how many letters of a long name go on one line: all that fit, at least one, none before a closing mark."""
    places = [n for n in range(1, len(piece)) if piece[n] not in CLOSING]
    return max((n for n in places if width(piece[:n], size) <= pixels), default=1)


def without_brackets(title: Text) -> Text:
    """Remove the text in Chinese brackets, the English name, where there is no room for both."""
    return Text(title.en, title.zh.partition("（")[0])
