"""Escaping of texts in .csv cells, so that a spreadsheet does not run them as formulas.

A spreadsheet takes a cell that begins with =, +, -, @, a tab or a line end for a formula, and file and folder names are
untrusted. As OWASP advises (https://owasp.org/www-community/attacks/CSV_Injection) such a text gets a leading
apostrophe. A text that already has apostrophes before such a character gets one more, so removing one restores every
text. Numbers such as -1 or +2.5e-3 stay as they are.
"""

from __future__ import annotations

import re

_RUN = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


def guarded(text: str) -> str:
    """Escape a text for a cell."""
    return f"'{text}" if _RUN.match(text) and not _NUMBER.fullmatch(text) else text


def unguarded(cell: str) -> str:
    """Restore the text of a cell."""
    return cell[1:] if cell.startswith("'") and _RUN.match(cell) else cell
