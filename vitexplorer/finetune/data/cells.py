"""Reader of .csv files in UTF-8, UTF-16 or GBK (Chinese Excel), with commas, semicolons or tabs."""

from __future__ import annotations

import csv
import io
import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vitexplorer.core.registry import unknown_name
from vitexplorer.core.settings import PREFIX, settings
from vitexplorer.core.text import Text
from vitexplorer.storage.findings import DataError, listed, readable_name
from vitexplorer.storage.image_files import is_image_name

_MOST_BYTES = 2**26
_MOST_COLUMNS = 1000
_DELIMITERS = ",;\t"
NOTHING = {"", "nan", "null", "n/a", "na", "#n/a", "none"}
"""Spellings of a missing number"""


@dataclass(frozen=True)
class Cells:
    """Table of strings: a header and rows of the same length."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    decimal_comma: bool = False
    """True if semicolons separate the cells, so that 3,5 is a number"""

    def column(self, name: str) -> list[str]:
        """Return the cells of a column. Raises UnknownNameError, naming the nearest column."""
        if name not in self.columns:
            raise unknown_name("column", name, self.columns)
        index = self.columns.index(name)
        return [row[index] for row in self.rows]

    def number(self, cell: str) -> float:
        """Parse a cell as a number; NaN if it is not a finite number."""
        text = cell.replace(",", ".") if self.decimal_comma else cell
        try:
            value = math.nan if "_" in text else float(text)
        except ValueError:
            return math.nan
        return value if math.isfinite(value) else math.nan


def read_cells(path: Path) -> Cells:
    """Read the table in a file; if its first row names an image, there is no header and columns are "column 1", ...

    Raises DataError for a file that is missing, too large, not a table, or without rows.
    """
    text = _text(path)
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    try:
        rows = [
            row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if any(map(str.strip, row))
        ]
    except csv.Error:
        raise DataError(_BROKEN.format(name=listed([readable_name(path.name)]))) from None
    if "\0" in text or not rows or len(rows[0]) > _MOST_COLUMNS:
        raise DataError(_BROKEN.format(name=listed([readable_name(path.name)])))
    if len(rows) > settings().data_files:
        raise DataError(_LONG.format(rows=len(rows), most=settings().data_files, variable=PREFIX + "DATA_FILES"))
    header = [] if any(is_image_name(cell.strip()) for cell in rows[0]) else rows.pop(0)
    if not rows:
        raise DataError(_NO_ROWS.format(name=listed([readable_name(path.name)])))
    width = len(header) or max(map(len, rows))
    return Cells(
        readable_name(path.name),
        _distinct([*header, *[""] * (width - len(header))]),
        tuple(tuple(_cell(row[i]) if i < len(row) else "" for i in range(width)) for row in rows),
        delimiter == ";",
    )


_MISSING = Text("There is no table {name}. Check the path.", "找不到表格 {name}。请检查路径。")
_LARGE = Text(
    "The table {name} is {megabytes} MB; the limit is {most} MB. Keep only the columns that are needed.",
    "表格 {name} 大小为 {megabytes} MB；最多读取 {most} MB。请只保留所需的列。",
)
_BROKEN = Text(
    "{name} cannot be read as a table. Save it as a .csv in UTF-8, one image in each row.",
    "无法将 {name} 作为表格读取。请另存为 UTF-8 编码的 .csv，每行一幅图像。",
)
_NO_ROWS = Text("The table {name} has no rows.", "表格 {name} 中没有数据行。")
_LONG = Text(
    "The table has {rows} rows; the limit is {most}. Use fewer rows or raise {variable}.",
    "表格有 {rows} 行；最多读取 {most} 行。请减少行数，或调大 {variable}。",
)


def _text(path: Path) -> str:
    name = listed([readable_name(path.name)])
    try:
        size = path.stat().st_size
        if size > _MOST_BYTES:
            raise DataError(_LARGE.format(name=name, megabytes=size // 10**6, most=_MOST_BYTES // 10**6))
        raw = path.read_bytes()
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(_MISSING.format(name=name)) from None
    except (OSError, ValueError):  # ValueError: a path with a null character
        raise DataError(_BROKEN.format(name=name)) from None
    encodings = ["utf-16"] if raw.startswith((b"\xff\xfe", b"\xfe\xff")) else ["utf-8-sig", "gb18030"]
    for encoding in encodings:
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise DataError(_BROKEN.format(name=name))


def _cell(text: str) -> str:
    return unicodedata.normalize("NFC", text.strip())


def _distinct(header: Sequence[str]) -> tuple[str, ...]:
    """Make the column names unique: an empty one becomes "column 3", a second "label" becomes "label (2)"."""
    names: dict[str, None] = {}
    for place, raw in enumerate(header, 1):
        name = readable_name(raw.strip()) or f"column {place}"
        number = 1
        unique = name
        while unique in names:
            number += 1
            unique = f"{name} ({number})"
        names[unique] = None
    return tuple(names)
