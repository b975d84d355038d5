"""Counts as tables: the parts of a model, or the terms of a closed formula, each with its share of the whole."""

from vitexplorer.ui.calculator.component import CountRow, CountTable, CountTableData
from vitexplorer.ui.calculator.tables import parts_table, terms_table
from vitexplorer.ui.calculator.units import MACS, PARAMETERS, Unit, compact
from vitexplorer.ui.calculator.words import CALCULATOR_WORDS

__all__ = [
    "CALCULATOR_WORDS",
    "MACS",
    "PARAMETERS",
    "CountRow",
    "CountTable",
    "CountTableData",
    "Unit",
    "compact",
    "parts_table",
    "terms_table",
]
