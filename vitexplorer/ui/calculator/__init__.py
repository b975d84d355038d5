"""How large a model is and what a picture costs: one story of all countings, a calculator, and tables on demand."""

from vitexplorer.ui.calculator.data import CountRow, CountTableData, SizeData, StoryRow
from vitexplorer.ui.calculator.size_board import SizeBoard
from vitexplorer.ui.calculator.units import MACS, PARAMETERS, Unit, compact
from vitexplorer.ui.calculator.words import CALCULATOR_WORDS

__all__ = [
    "CALCULATOR_WORDS",
    "MACS",
    "PARAMETERS",
    "CountRow",
    "CountTableData",
    "SizeBoard",
    "SizeData",
    "StoryRow",
    "Unit",
    "compact",
]
