"""Table of methods by protocols: each number over its 95 % interval and a bar, the best of each column bold.

The largest number of a column fills its bar, or 1 if that is more; a number below 0 has no bar.

The random map and the truth itself come last, apart and muted. A method that is not better than the first and worse
than the second says more about the protocol or the model than about the method.
"""

from __future__ import annotations

import numpy as np

from vitexplorer.core.standings import YARDSTICKS
from vitexplorer.core.types import EvaluationResult
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.caption import facts
from vitexplorer.figures.captioned import facts_below
from vitexplorer.figures.page import Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.themes import SMALL_SIZE
from vitexplorer.figures.typesetting import without_brackets, wrap

NAMES, LEAST, STEP, GAP, BAR = 190, 100, 50, 18, 4
"""Pixels of the methods' names, of a column at least, of a row, between columns, and of a bar's height"""
BETTER = {"high": "↑", "low": "↓"}
INTERVAL = "{low:.2f} – {high:.2f}"
NONE = "–"


def draw(page: Page, result: EvaluationResult) -> float:
    """Draw the table; columns without room go below as a table of their own."""
    y = page.header(result)
    names = min(NAMES, 0.3 * page.inner)
    fit = max(1, int((page.inner - names) // LEAST))
    for start in range(0, len(result.protocols), fit):
        columns = range(start, min(start + fit, len(result.protocols)))
        y = _table(page, y, result, columns, names) + 18
    return facts_below(page, y, facts(result))


def _table(page: Page, y: float, result: EvaluationResult, columns: range, names: float) -> float:
    wide = (page.inner - names) / max(len(columns), 1)
    right = {col: page.margin + names + (at + 1) * wide for at, col in enumerate(columns)}
    head = y
    for col in columns:
        lines = wrap(result.names[col].in_(page.language), wide - GAP, SMALL_SIZE)
        lines[-1] += f" {BETTER[result.better[col]]}"
        for at, line in enumerate(lines):
            page.text(right[col], head + at * 16, line, size=SMALL_SIZE, color=page.theme.muted, anchor="right")
        y = max(y, head + 16 * len(lines))
    y += 10
    methods = sum(method not in YARDSTICKS for method in result.methods)
    fullest = {col: max(1.0, best_of(result.values[:, col], "high")) for col in columns}
    bars = []
    best = {col: best_of(result.values[:methods, col], result.better[col]) for col in columns}
    for row, (method, full) in enumerate(zip(result.methods, result.titles, strict=True)):
        title = full if ":" in method else without_brackets(full)  # settings are said in brackets too
        page.rule(y - 4)
        color = page.theme.muted if row >= methods else None
        for at, line in enumerate(wrap(title.in_(page.language), names - 12, SMALL_SIZE)[:2]):
            page.text(page.margin, y + 16 * at, line, size=SMALL_SIZE, color=color)
        for col in columns:
            value = result.values[row, col]
            number_text = f"{value:.3f}" if np.isfinite(value) else NONE
            page.text(
                right[col], y, number_text, color=color, bold=row < methods and value == best[col], anchor="right"
            )
            if np.isfinite(result.low[row, col]):
                number_text = INTERVAL.format(low=result.low[row, col], high=result.high[row, col])
                page.text(right[col], y + 19, number_text, size=11, color=page.theme.muted, anchor="right")
            if value > 0:
                box = Box(right[col] - wide + GAP, y + 36, (wide - GAP) * value / fullest[col], BAR)
                fill = page.theme.bar if row < methods else page.theme.muted
                bars.append((box, fill, _hover_text(page, result, row, col)))
        y += STEP
    page.bars(bars, gap=0)
    return y


def _hover_text(page: Page, result: EvaluationResult, row: int, col: int) -> str:
    title, name = (text.in_(page.language) for text in (result.titles[row], result.names[col]))
    return f"{title}\n{name} {result.values[row, col]:.3f}"


def best_of(values: np.ndarray, better: str) -> float:
    """Return the best of some numbers; NaN if there are none."""
    known = values[np.isfinite(values)]
    return float("nan") if not len(known) else float(known.max() if better == "high" else known.min())


RENDERER = Renderer(EvaluationResult, draw)
