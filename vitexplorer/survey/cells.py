"""Texts as cells of a .csv that a spreadsheet shows and does not run.

A spreadsheet takes a cell that begins with =, +, -, @, a tab or an end of line for a formula, and the name of a file or
of a folder is a stranger's. As OWASP advises (https://owasp.org/www-community/attacks/CSV_Injection) an apostrophe is
put before such a text. A text that already begins so behind apostrophes gets one too, so that taking one away gives
every text back as it was; and one that is a number, -1 or +2.5e-3, is what it says and stays.
"""

from __future__ import annotations

import re

_RUN = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


def guarded(text: str) -> str:
    """A text as it is written into a cell."""
    return f"'{text}" if _RUN.match(text) and not _NUMBER.fullmatch(text) else text


def unguarded(cell: str) -> str:
    """The text that was written so; a cell that nothing was put before stays."""
    return cell[1:] if cell.startswith("'") and _RUN.match(cell) else cell
