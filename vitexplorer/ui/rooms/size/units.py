"""Units of counts, and short forms of large counts."""

from __future__ import annotations

from dataclasses import dataclass

from vitexplorer.core import format as numbers
from vitexplorer.core.text import Text, same


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
