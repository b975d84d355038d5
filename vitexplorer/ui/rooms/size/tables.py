"""Tables of counts. A share is a share of the total, and the total is the sum of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vitexplorer.core import format as numbers
from vitexplorer.core.text import Language, Text, same
from vitexplorer.core.types import Term
from vitexplorer.quantities.parameter_formulas import ViTShape
from vitexplorer.ui.rooms.size.literature import DECLARED, counted
from vitexplorer.ui.rooms.size.multiplications import as_counted
from vitexplorer.ui.rooms.size.size_board import CountRow, CountTableData
from vitexplorer.ui.rooms.size.words import CALCULATOR_WORDS


@dataclass(frozen=True)
class Unit:
    """Unit of a count."""

    after_number: Text
    """Unit after a number: 5,717,416 parameters"""
    column: Text
    """Heading of a column of numbers"""
    billion: str = "G"
    """Letter for 10^9: G, or B for parameters, which are usually written as 7 B"""


PARAMETERS = Unit(Text("parameters", "个参数"), Text("Parameters", "参数量"), billion="B")
MACS = Unit(Text("multiply-accumulates (MACs)", "次乘加运算（MACs）"), same("MACs"))


def compact(count: int, unit: Unit) -> str:
    """Format a count to one decimal, with its unit's letter for 10^9."""
    return numbers.compact(count, unit.billion)


def parts_table(parts: Sequence[str], counts: Sequence[int], model: str, language: Language) -> CountTableData:
    """Return a table with one row for each part of a model; `counts` are in the order of `parts`."""
    rows = [CountRow(name=part, count=int(count)) for part, count in zip(parts, counts, strict=True)]
    table = _table_with_total("parts", rows, PARAMETERS, "part", language)
    table.title = CALCULATOR_WORDS["title_parts"].format(model=model).in_(language)
    return table


def terms_table(
    key: str, terms: Sequence[Term], language: Language, *, unit: Unit = PARAMETERS, note: Text | None = None
) -> CountTableData:
    """Return a table with one row for each term of a closed formula: words, symbols, numbers, value."""
    rows = [
        CountRow(name=term.name.in_(language), symbols=term.symbols, numbers=term.numbers, count=term.count)
        for term in terms
    ]
    table = _table_with_total(key, rows, unit, "term", language)
    table.note = note.in_(language) if note else ""
    return table


def tools_table(shape: ViTShape, language: Language) -> CountTableData:
    """Return the table that explains why tools print different numbers for one model."""
    rows = [
        CountRow(name=method.in_(language), beside=compact(count, MACS), count=count)
        for method, count in as_counted(shape)
    ]
    return _table("tools", rows, MACS, {"name": "tools", "beside": "compact"}, language)


def declared_table(language: Language) -> CountTableData:
    """Return the table of sizes that papers declare beside the exact sizes."""
    rows = [CountRow(name=name, beside=f"{millions} M", count=counted(shape)) for name, millions, shape in DECLARED]
    return _table("declared", rows, PARAMETERS, {"name": "model", "beside": "declared"}, language)


def _table_with_total(key: str, rows: list[CountRow], unit: Unit, name: str, language: Language) -> CountTableData:
    """Return a table with its total and each row's share of it."""
    total = sum(row.count for row in rows)
    for row in rows:
        row.share = row.count / total if total else 0.0
    headings = {"name": name, "symbols": "symbols", "numbers": "numbers", "share": "share"}
    table = _table(key, rows, unit, headings, language)
    table.total = total
    table.compact = compact(total, unit)
    table.unit = unit.after_number.in_(language)
    return table


def _table(key: str, rows: list[CountRow], unit: Unit, headings: dict[str, str], language: Language) -> CountTableData:
    """Return a table whose column of counts is headed by their unit.

    `CALCULATOR_WORDS` has its button and title under `key`, and the values of `headings`, the other columns.
    """
    columns = {column: CALCULATOR_WORDS[heading].in_(language) for column, heading in headings.items()}
    return CountTableData(
        label=CALCULATOR_WORDS[f"open_{key}"].in_(language),
        title=CALCULATOR_WORDS[f"title_{key}"].in_(language),
        rows=rows,
        columns={**columns, "count": unit.column.in_(language)},
    )
