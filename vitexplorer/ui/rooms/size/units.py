"""Units of what is counted, and large counts in short."""

from __future__ import annotations

from dataclasses import dataclass

from vitexplorer.core import format as numbers
from vitexplorer.core.text import Text, same


@dataclass(frozen=True)
class Unit:
    """A thing that is counted."""

    after_number: Text
    """as it follows a number: 5,717,416 parameters"""
    column: Text
    """as it heads a column of numbers"""
    billion: str = "G"
    """the letter for 10^9: G, but B where a field says 7 B"""


PARAMETERS = Unit(Text("parameters", "个参数"), Text("Parameters", "参数量"), billion="B")
MACS = Unit(Text("multiply-accumulates (MACs)", "次乘加运算（MACs）"), same("MACs"))


def compact(count: int, unit: Unit) -> str:
    """A count to one decimal with its unit's letter for 10^9."""
    return numbers.compact(count, unit.billion)
