"""Counts to tables: every share is of the total, and the total is the sum of the rows."""

from __future__ import annotations

from collections.abc import Sequence

from vitexplorer.formulas import ViTShape
from vitexplorer.types import Term
from vitexplorer.ui.calculator.data import CountRow, CountTableData
from vitexplorer.ui.calculator.literature import DECLARED, counted
from vitexplorer.ui.calculator.multiplications import as_counted
from vitexplorer.ui.calculator.units import MACS, PARAMETERS, Unit, compact
from vitexplorer.ui.calculator.words import CALCULATOR_WORDS
from vitexplorer.words import Language, Text

NOTHING = Text("", "")


def parts_table(
    parts: Sequence[str],
    counts: Sequence[int],
    language: Language,
    *,
    label: str,
    title: Text,
    unit: Unit = PARAMETERS,
    note: Text = NOTHING,
) -> CountTableData:
    """One row for each part of a model; `counts` (parts,) int, in the same order."""
    total = _total(counts)
    rows = [
        CountRow(name=part, count=int(count), share=_share(count, total))
        for part, count in zip(parts, counts, strict=True)
    ]
    return _table(rows, total, language, first="part", label=label, title=title, unit=unit, note=note)


def terms_table(
    terms: Sequence[Term],
    language: Language,
    *,
    label: str,
    title: Text,
    unit: Unit = PARAMETERS,
    note: Text = NOTHING,
) -> CountTableData:
    """One row for each term of a closed formula: in words, in symbols, with numbers, and its value."""
    total = _total([term.count for term in terms])
    rows = [
        CountRow(
            name=term.name.in_(language),
            symbols=term.symbols,
            numbers=term.numbers,
            count=term.count,
            share=_share(term.count, total),
        )
        for term in terms
    ]
    return _table(rows, total, language, first="term", label=label, title=title, unit=unit, note=note)


def tools_table(shape: ViTShape, language: Language) -> CountTableData:
    """Why tools print different numbers for one model."""
    rows = [
        CountRow(name=what.in_(language), beside=compact(count, MACS), count=count) for what, count in as_counted(shape)
    ]
    return _plain(rows, language, key="tools", name="tools", beside="compact", unit=MACS)


def declared_table(language: Language) -> CountTableData:
    """Sizes that papers declare beside the exact ones."""
    rows = [CountRow(name=name, beside=f"{millions} M", count=counted(shape)) for name, millions, shape in DECLARED]
    return _plain(rows, language, key="declared", name="model", beside="declared", unit=PARAMETERS)


def _plain(rows: list[CountRow], language: Language, *, key: str, name: str, beside: str, unit: Unit) -> CountTableData:
    """Rows that add up to nothing."""
    words = {key: text.in_(language) for key, text in CALCULATOR_WORDS.items()}
    return CountTableData(
        label=words[f"open_{key}"],
        title=words[f"title_{key}"],
        rows=rows,
        columns={"name": words[name], "beside": words[beside], "count": unit.column.in_(language)},
    )


def _total(counts: Sequence[int]) -> int:
    return sum(int(count) for count in counts)


def _share(count: int, total: int) -> float:
    return int(count) / total if total else 0.0


def _table(
    rows: list[CountRow], total: int, language: Language, *, first: str, label: str, title: Text, unit: Unit, note: Text
) -> CountTableData:
    words = {key: text.in_(language) for key, text in CALCULATOR_WORDS.items()}
    return CountTableData(
        label=words[f"open_{label}"],
        title=title.in_(language),
        rows=rows,
        total=total,
        compact=compact(total, unit),
        unit=unit.after_number.in_(language),
        note=note.in_(language),
        columns={
            "name": words[first],
            "symbols": words["symbols"],
            "numbers": words["numbers"],
            "count": unit.column.in_(language),
            "share": words["share"],
        },
    )
