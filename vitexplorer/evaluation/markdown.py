"""Evaluation results as a Markdown table."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.types import EvaluationResult

ARROWS = {"high": "↑", "low": "↓"}


def as_markdown(result: EvaluationResult) -> str:
    """Format a row for each method and a column for each protocol, with 95 % intervals; the last row counts the cases.

    ↑ and ↓ mark if high or low is good. If slow methods have fewer cases, both counts are listed.
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
