"""Is a training worth its cost? Every run as a point, the front of those that no other beats, the baseline dashed.

The cost has a logarithmic axis: methods differ by factors of a thousand.
"""

from __future__ import annotations

import math

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.core.types import ParetoResult
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.caption import facts
from vitexplorer.figures.captioned import facts_below
from vitexplorer.figures.chart import ABOVE, BELOW, LEFT, Chart, span, style_of, ticks
from vitexplorer.figures.page import Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.themes import SMALL_SIZE

HEIGHT, ROOM = 420, 180
"""Pixels of the chart's height, and at its right for the name of the dearest run"""
BASELINE = Text("linear on frozen features", "冻结特征上的线性模型")
FRONT = Text("The line joins the runs that no other beats in both.", "连线经过在两方面都不被其他方法超越的训练。")


def draw(page: Page, result: ParetoResult) -> float:
    """Draw the plane, the front and a name at each point."""
    y, room = page.header(result), min(ROOM, 0.3 * page.inner)
    logs = np.log10(result.costs)
    across = (math.floor(logs.min() - 0.05), math.ceil(logs.max() + 0.05))
    heights = result.values if result.baseline is None else np.append(result.values, result.baseline)
    chart = Chart(
        Box(page.margin + LEFT, y + ABOVE, page.inner - LEFT - room, page.high(HEIGHT, y + ABOVE + BELOW + 10)),
        across,
        _up(heights),
    )
    _frame(page, chart, result)
    if result.baseline is not None:
        ends = [chart.at(across[0], result.baseline), chart.at(across[1], result.baseline)]
        page.curve(ends, page.theme.muted, dash="dash", width=1.5)
        page.text(
            ends[1][0] + 8,
            ends[1][1],
            BASELINE,
            size=SMALL_SIZE,
            color=page.theme.muted,
            vertical="middle",
            pixels=room,
        )
    order = [at for at in np.argsort(result.costs, kind="stable").tolist() if result.front[at]]
    page.curve([chart.at(logs[at], result.values[at]) for at in order], page.theme.bar, width=1.5)
    for at, name in enumerate(result.trainings):
        x, height = chart.at(logs[at], result.values[at])
        words = f"{name}: {result.values[at]:.4g}, {result.costs[at]:,.4g}"
        page.curve([(x, height)], style_of(page, 0 if result.front[at] else 1).color, words=[words], symbol="circle")
        page.text(x + 10, height - 18, name, size=SMALL_SIZE, bold=bool(result.front[at]))
    return facts_below(page, chart.box.bottom + BELOW + 10, facts(result, remarks=(FRONT,)))


def _up(values: np.ndarray) -> tuple[float, float]:
    """Return a range around the figures, out to the next ticks; shares stay within 0-1."""
    if values.min() >= 0 and values.max() <= 1:
        return max(0.0, math.floor(10 * values.min() - 0.5) / 10), min(1.0, math.ceil(10 * values.max() + 0.5) / 10)
    low, high = span(values, from_zero=False)
    marks = ticks(low, high) if high > low else [low - 0.5, low + 0.5]
    step = marks[1] - marks[0] if len(marks) > 1 else (high - low) or 1.0
    return math.floor(low / step + 1e-9) * step - step / 2, math.ceil(high / step - 1e-9) * step + step / 2


def _frame(page: Page, chart: Chart, result: ParetoResult) -> None:
    box, muted = chart.box, page.theme.muted
    for value in ticks(*chart.up):
        height = chart.at(0, value)[1]
        page.line((box.x, height), (box.right, height))
        page.text(box.x - 8, height, f"{value:g}", size=SMALL_SIZE, color=muted, anchor="right", vertical="middle")
    for power in range(int(chart.across[0]), int(chart.across[1]) + 1):
        x = chart.at(power, 0)[0]
        page.line((x, box.y), (x, box.bottom))
        page.text(x, box.bottom + 7, f"{10.0**power:,.10g}", size=SMALL_SIZE, color=muted, anchor="center")
    page.line((box.x, box.bottom), (box.right, box.bottom), muted)
    page.text(box.centre[0], box.bottom + 26, result.cost_name, size=SMALL_SIZE, anchor="center")
    page.text(box.x - LEFT + 8, box.y - ABOVE, result.unit, size=SMALL_SIZE)


RENDERER = Renderer(ParetoResult, draw)
