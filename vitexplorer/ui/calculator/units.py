"""What is counted, and large counts in short."""

from __future__ import annotations

from dataclasses import dataclass

from vitexplorer.words import Text, same


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
MACS = Unit(Text("multiply-accumulates (MACs)", "次乘加运算 (MACs)"), same("MACs"))


def compact(count: int, unit: Unit) -> str:
    """A count to one decimal: 999, 1.2 k, 5.7 M, 86.6 M, 17.6 G. What would round to 1000.0 k is 1.0 M."""
    for power, letter in ((12, "T"), (9, unit.billion), (6, "M"), (3, "k")):
        if abs(count) >= 0.99995 * 10**power:
            return f"{count / 10**power:.1f} {letter}"
    return str(count)
