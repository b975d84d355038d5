"""Quality of methods: a table of methods by protocols, and deletion and insertion curves with the areas under them."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.format import MINUS, thousandths
from vitexplorer.core.standings import YARDSTICKS
from vitexplorer.core.text import Text
from vitexplorer.core.types import EvaluationResult, FaithfulnessResult
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.captioned import caption_below
from vitexplorer.figures.chart import ABOVE, BELOW, LEFT, Chart, Style, span, style_for
from vitexplorer.figures.page import Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.themes import SMALL_SIZE
from vitexplorer.figures.typesetting import without_brackets, wrap

NAMES, LEAST, STEP, COLUMN_GAP, BAR = 190, 100, 50, 18, 4
"""Pixels of the methods' names, of a column at least, of a row, between columns, and of a bar's height"""
BETTER = {"high": "↑", "low": "↓"}
INTERVAL = "{low:.2f} – {high:.2f}"
NONE = "–"
GAP, TITLE, LEGEND = 40, 30, 28
CURVES = {
    "deletion": Text("deletion (lower is better)", "删除（越低越好）"),
    "insertion": Text("insertion (higher is better)", "插入（越高越好）"),
}
SHARES = {
    "deletion": Text("share of patches deleted", "已删除图块的比例"),
    "insertion": Text("share of patches inserted", "已插入图块的比例"),
}
SHORT = {"deletion": Text("deletion ↓", "删除 ↓"), "insertion": Text("insertion ↑", "插入 ↑")}
AREA = Text("area: {curve}", "面积：{curve}")


def draw_evaluation(page: Page, result: EvaluationResult, y: float) -> float:
    """Draw each number over its 95 % interval and a bar, the best of each column bold.

    Columns without room go below as a table of their own. The largest number of a column fills its bar, or 1 if that
    is more; a number below 0 has no bar. The random map and the truth itself come last, apart and muted: a method that
    is not better than the first and worse than the second says more about the protocol or the model than about itself.
    """
    names = min(NAMES, 0.3 * page.inner)
    fit = max(1, int((page.inner - names) // LEAST))
    for start in range(0, len(result.protocols), fit):
        columns = range(start, min(start + fit, len(result.protocols)))
        y = _table(page, y, result, columns, names) + 18
    return caption_below(page, y, result)


def _table(page: Page, y: float, result: EvaluationResult, columns: range, names: float) -> float:
    wide = (page.inner - names) / max(len(columns), 1)
    right = {col: page.margin + names + (at + 1) * wide for at, col in enumerate(columns)}
    head = y
    for col in columns:
        lines = wrap(result.names[col].in_(page.language), wide - COLUMN_GAP, SMALL_SIZE)
        lines[-1] += f" {BETTER[result.better[col]]}"
        for at, line in enumerate(lines):
            page.small(right[col], head + at * 16, line, muted=True, anchor="right")
        y = max(y, head + 16 * len(lines))
    y += 10
    methods = sum(method not in YARDSTICKS for method in result.methods)
    fullest = {col: max(1.0, best_of(result.values[:, col], "high")) for col in columns}
    best = {col: best_of(result.values[:methods, col], result.better[col]) for col in columns}
    bars = []
    for row, (method, full) in enumerate(zip(result.methods, result.titles, strict=True)):
        title = full if ":" in method else without_brackets(full)  # settings are said in brackets too
        page.rule(y - 4)
        is_yardstick = row >= methods
        for at, line in enumerate(wrap(title.in_(page.language), names - 12, SMALL_SIZE)[:2]):
            page.small(page.margin, y + 16 * at, line, muted=is_yardstick)
        for col in columns:
            value = result.values[row, col]
            number_text = thousandths(value) if np.isfinite(value) else NONE
            is_best = not is_yardstick and bool(value == best[col])
            page.text(right[col], y, number_text, muted=is_yardstick, bold=is_best, anchor="right")
            if np.isfinite(result.low[row, col]):
                number_text = INTERVAL.format(low=result.low[row, col], high=result.high[row, col]).replace("-", MINUS)
                page.text(right[col], y + 19, number_text, size=11, muted=True, anchor="right")
            if value > 0:
                most = wide - COLUMN_GAP
                box = Box(right[col] - wide + COLUMN_GAP, y + 36, most * value / fullest[col], BAR)
                fill = page.theme.muted if is_yardstick else page.theme.bar
                words = [text.in_(page.language) for text in (result.titles[row], result.names[col])]
                bars.append((box, fill, f"{words[0]}\n{words[1]} {thousandths(value)}"))
        y += STEP
    page.bars(bars, gap=0)
    return y


def best_of(values: np.ndarray, better: str) -> float:
    """Return the best of some numbers; NaN if there are none."""
    known = values[np.isfinite(values)]
    return float("nan") if not len(known) else float(known.max() if better == "high" else known.min())


def draw_faithfulness(page: Page, result: FaithfulnessResult, y: float) -> float:
    """Draw deletion and insertion curves side by side; the table below names the lines and gives their areas."""
    names = [CURVES[curve] for curve in result.curves]
    per_row, wide = page.columns(len(names), GAP, 300)
    others = y + TITLE + ABOVE + BELOW + 56 + LEGEND * len(result.methods)
    tall = page.high(360, others if per_row == len(names) else page.sheet.height, 200)
    styles = [style_for(page, key, at) for at, key in enumerate(result.methods)]
    styles[-1] = Style(page.theme.muted, "dot", "x-thin-open")  # random order
    bottom = y
    for at, curve in enumerate(result.curves):
        left, y = page.margin + at % per_row * (wide + GAP), bottom if at % per_row == 0 else y
        page.text(left, y, names[at], bold=True)
        chart = Chart(Box(left + LEFT, y + TITLE + ABOVE, wide - LEFT, tall), (0.0, 1.0), span(result.values))
        chart.frame(page, SHARES[curve], result.unit)
        for style, title, values in zip(styles, result.titles, result.values[:, at].tolist(), strict=True):
            chart.curve(page, result.steps, values, style, title)
        bottom = chart.box.bottom + BELOW
    return caption_below(page, _legend(page, bottom + 10, result, styles, names) + 16, result)


def _legend(page: Page, y: float, result: FaithfulnessResult, styles: list[Style], names: list[Text]) -> float:
    """Draw a line for each method: its sample, its title, its areas; the best of each column is bold."""
    apart = min(260, page.inner / 4)
    columns = [page.right - apart * (len(names) - 1 - at) for at in range(len(names))]
    for x, name, curve in zip(columns, names, result.curves, strict=True):
        head = AREA.format(curve=name) if apart == 260 else SHORT[curve]
        page.text(x, y, head, muted=True, anchor="right")
    best = [
        float(areas.min() if curve == "deletion" else areas.max())
        for curve, areas in zip(result.curves, result.areas.T, strict=True)
    ]
    y += LEGEND
    for style, title, areas in zip(styles, result.titles, result.areas.tolist(), strict=True):
        page.rule(y - 4)
        style.sample(page, page.margin + 6, y + 10)
        page.text(page.margin + 60, y, title)
        for x, area, most in zip(columns, areas, best, strict=True):
            page.text(x, y, thousandths(area), bold=area == most, anchor="right")
        y += LEGEND
    return y


RENDERERS = (Renderer(EvaluationResult, draw_evaluation), Renderer(FaithfulnessResult, draw_faithfulness))
