"""A count table as a gradio component: numbers and words travel as data, the browser builds the table from them."""

from __future__ import annotations

from pathlib import Path

from gradio.data_classes import GradioModel

from vitexplorer.ui.parts.widget import Widget


class CountRow(GradioModel):
    """One part or term."""

    name: str
    count: int
    share: float
    """of the total, 0-1"""
    symbols: str = ""
    """the term in letters; D_s is D with the index s"""
    numbers: str = ""
    """the same with numbers"""


class CountTableData(GradioModel):
    """A headline number and the rows that add up to it."""

    title: str = ""
    rows: list[CountRow] = []
    total: int = 0
    compact: str = ""
    """the total in short: 5.7 M"""
    unit: str = ""
    """what was counted, as it follows a number"""
    note: str = ""
    """a sentence under the table, or alone where there are no rows"""
    columns: dict[str, str] = {}
    """headings: name, symbols, numbers, count, share"""
    words: dict[str, str] = {}
    """`CALCULATOR_WORDS` in one language"""


class CountTable(Widget):
    """A headline number over a table with share bars; rows that changed since the last value are marked."""

    data_model = CountTableData
    stem = "calculator"
    sends = ()
    folder = Path(__file__).parent
