"""A table of results as Markdown."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.types import EvaluationResult

ARROWS = {"high": "↑", "low": "↓"}


def as_markdown(result: EvaluationResult) -> str:
    """A row for each method, a column for each protocol, with its 95 % interval; the last row says on how many cases.

    ↑ and ↓ say which numbers are good. Where slow methods rest on fewer cases, both numbers stand there.
    """
    heads = [f"{name} {ARROWS[better]}" for name, better in zip(result.protocols, result.better, strict=True)]
    rows = [["method", *heads], ["---"] * (1 + len(heads))]
    for at, method in enumerate(result.methods):
        numbers = zip(result.values[at], result.low[at], result.high[at], strict=True)
        rows.append([f"`{method}`", *(_cell(*number) for number in numbers)])
    counts = [sorted({int(count) for count in column if count}, reverse=True) for column in result.counts.T]
    rows.append(["cases", *(" or ".join(map(str, column)) for column in counts)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(value: float, low: float, high: float) -> str:
    if not np.isfinite(value):
        return ""
    return f"{value:.3f} [{low:.2f}, {high:.2f}]" if np.isfinite(low) else f"{value:.3f}"
