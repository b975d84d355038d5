"""Numbers formatted for people, the same in every language: shares, measured numbers, counts.

A number is surrounded by spaces in Chinese text too: 概率 95.9 %.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

MINUS = "\u2212"
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def percent(share: ArrayLike | Sequence[float]) -> str:
    """Format a share in 0-1 as a percentage, several as their range."""
    shares = np.atleast_1d(np.asarray(share, dtype=float)) * 100
    shares = shares[np.isfinite(shares)]
    if not shares.size:
        return "– %"
    if shares.size == 1 and 0 < shares[0] < 0.05:
        return "< 0.1 %"
    low, high = f"{shares.min():.1f}", f"{shares.max():.1f}"
    return f"{high} %" if low == high else f"{low}–{high} %"


def measured(value: float | np.floating) -> str:
    """Format a number to three significant digits: 116, 0.42, 12,300, 3.2 × 10⁻⁵; – where it is none."""
    if not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    digits, exponent = f"{value:.2e}".split("e")
    if -4 <= int(exponent) < 7:
        decimals = max(0, 2 - int(exponent))
        rounded = f"{float(f'{digits}e{exponent}'):,.{decimals}f}"
        return rounded.replace("-", MINUS)
    return f"{float(digits):g} × 10{str(int(exponent)).translate(_RAISED)}".replace("-", MINUS)


def plus_minus(value: float | np.floating, half: float | np.floating) -> str:
    """Format a number and its uncertainty, which has two significant digits (JCGM 100:2008, 7.2.6): 0.008 ± 0.010."""
    if not 1e-6 < half < 1e6:  # none, or better said with a power of ten
        return f"{measured(value)} ± {measured(half)}"
    decimals = max(0, 1 - math.floor(math.log10(half)))
    rounded = round(float(value), decimals) + 0.0  # no minus before a zero
    return f"{rounded:,.{decimals}f} ± {half:,.{decimals}f}".replace("-", MINUS)


def fine_percent(share: float | np.floating) -> str:
    """Format a small share as a percentage with three significant digits: 4.96 %, 0.779 %."""
    return f"{measured(100 * share)} %"


def thousandths(value: float | np.floating) -> str:
    """Format a number to three decimals, for columns of them: 0.420, −3.236."""
    return f"{value:.3f}".replace("-", MINUS)


def hundredths(value: float | np.floating) -> str:
    """Format a number to two decimals with its sign, for columns of them: +0.42, −3.24, 0.00."""
    rounded = round(float(value), 2) + 0.0  # no minus before a zero
    return f"{rounded:+.2f}".replace("-", MINUS) if rounded else "0.00"


def signed(value: float | np.floating) -> str:
    """Format a number to three significant digits with its sign: +0.42."""
    return f"+{measured(value)}" if value > 0 else measured(value)


def counted(count: int | np.integer) -> str:
    """Format a count with thousands separators: 5,717,416."""
    return f"{count:,}".replace("-", MINUS)


def compact(count: int | np.integer, billion: str = "G") -> str:
    """Format a count to one decimal: 999, 1.2 k, 5.7 M, 86.6 M, 17.6 G; 1.0 M, never 1000.0 k."""
    for power, letter in ((12, "T"), (9, billion), (6, "M"), (3, "k")):
        if abs(count) >= 0.99995 * 10**power:
            return f"{count / 10**power:.1f} {letter}"
    return str(count)
