"""Charts: lines of numbers along an axis, and cost against size."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.core.types import CurvesResult, GrowthResult
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.captioned import caption_below
from vitexplorer.figures.chart import ABOVE, BELOW, LEFT, Chart, span, style_of
from vitexplorer.figures.meanings import part_color
from vitexplorer.figures.page import Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.themes import TEXT_SIZE
from vitexplorer.figures.typesetting import width

LARGEST, LEGEND = 420, 34
HEIGHT, GAP = 380, 50
DESIGNS = {
    "global": Text("every token attends to every other", "全局注意力：每个标记关注所有标记"),
    "windowed": Text("patches attend within windows", "窗口注意力：图块只关注同一窗口内的图块"),
}
TOTAL = Text("total", "合计")
TOTAL_LINE = 7
"""Style of the sum in the colour of the text, because it is none of the kinds"""
SIZE = Text("side of a square image, pixels", "正方形图像的边长（像素）")
POWERS = ((1e12, "10¹² "), (1e9, "10⁹ "), (1e6, "10⁶ "))


def plot(page: Page, result: CurvesResult, y: float, height: float = LARGEST, below: float = 0) -> float:
    """Draw the lines and, for several, a legend; `below` pixels stay free. Returns y below them."""
    lines = np.atleast_2d(result.values)
    widths = [84 + width(name.in_(page.language), TEXT_SIZE) for name in result.curves]
    legend = page.in_rows(widths, page.margin + LEFT) if len(widths) > 1 else []
    rows = 1 + legend[-1][1] if legend else 0
    height = page.high(height, y + ABOVE + BELOW + LEGEND * rows + below)
    box = Box(page.margin + LEFT, y + ABOVE, page.inner - LEFT, height)
    chart = Chart(box, span(result.x, from_zero=False), span(result.values))
    chart.frame(page, result.x_name, result.unit, whole=np.issubdtype(result.x.dtype, np.integer))
    y = box.bottom + BELOW
    for number, (line, name) in enumerate(zip(lines, result.curves, strict=True)):
        style = style_of(page, number)
        chart.curve(page, result.x.tolist(), line.tolist(), style, name)
        if legend:
            x, row = legend[number]
            style.sample(page, x, y + LEGEND * row + 12)
            page.text(x + 54, y + LEGEND * row + 12, name, vertical="middle")
    return y + LEGEND * rows


def draw(page: Page, result: CurvesResult, y: float) -> float:
    """Draw the lines."""
    return caption_below(page, plot(page, result, y) + 10, result)


def draw_growth(page: Page, result: GrowthResult, y: float) -> float:
    """Draw a legend, and the charts side by side."""
    y = _legend(page, y, result)
    totals = result.values.sum(1)
    factor, power = next(((f, name) for f, name in POWERS if totals.max(initial=0) >= f), (1, ""))
    unit = Text("{power}{unit}", "{power}{unit}").format(power=power, unit=result.unit)
    per_row, wide = page.columns(len(result.designs), GAP, 280)
    tall = page.high(HEIGHT, y + 30 + ABOVE + BELOW + 16, 220)
    up = span(totals / factor)
    for at, design in enumerate(result.designs):
        row, col = divmod(at, per_row)
        left, top = page.margin + col * (wide + GAP), y + row * (30 + ABOVE + tall + BELOW + 12)
        page.text(left, top, DESIGNS[design], bold=True, pixels=wide)
        box = Box(left + LEFT, top + 30 + ABOVE, wide - LEFT, tall)
        chart = Chart(box, (0, max(result.sizes) * 1.04), up)
        chart.frame(page, SIZE, unit)
        _columns(page, chart, result, at, factor, unit.in_(page.language))
        chart.curve(page, result.sizes, (totals[at] / factor).tolist(), style_of(page, TOTAL_LINE), TOTAL)
    return caption_below(page, box.bottom + BELOW + 16, result)


def _columns(page: Page, chart: Chart, result: GrowthResult, design: int, factor: float, unit: str) -> None:
    """Draw a column for each size, with its kinds on top of each other."""
    half = 0.36 * float(np.diff((0, *result.sizes)).min())
    pieces = []
    for at, size in enumerate(result.sizes):
        below = 0.0
        for kind, count in enumerate(result.values[design, :, at].tolist()):
            above = below + count / factor
            (x0, top), (x1, floor) = chart.at(size - half, above), chart.at(size + half, below)
            words = f"{result.kind_texts[kind].in_(page.language)}\n{size} × {size}: {count / factor:.4g} {unit}"
            pieces.append((Box(x0, top, x1 - x0, floor - top), part_color(result.kinds[kind]), words))
            below = above
    page.bars(pieces, gap=0)


def _legend(page: Page, y: float, result: GrowthResult) -> float:
    """Draw colour and name of each kind, one below the other. Returns y below them."""
    for kind, name in zip(result.kinds, result.kind_texts, strict=True):
        page.rectangle(Box(page.margin, y + 2, 14, 14), fill=part_color(kind))
        page.text(page.margin + 22, y, name)
        y += 26
    x = page.margin + 22 + width(TOTAL.in_(page.language), 15)
    page.text(page.margin + 22, y, TOTAL)
    style_of(page, TOTAL_LINE).sample(page, x + 12, y + 9)
    return y + 40


RENDERERS = (Renderer(CurvesResult, draw), Renderer(GrowthResult, draw_growth))
