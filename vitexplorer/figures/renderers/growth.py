"""Cost against size, stacked by kind of multiplication: one chart for each design, all on one scale."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.core.types import GrowthResult
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.captioned import caption_below
from vitexplorer.figures.chart import ABOVE, BELOW, LEFT, Chart, span, style_of
from vitexplorer.figures.meanings import part_color
from vitexplorer.figures.page import Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.typesetting import width

HEIGHT, GAP = 380, 50
DESIGNS = {
    "global": Text("every token attends to every other", "全局注意力：每个标记关注所有标记"),
    "windowed": Text("patches attend within windows", "窗口注意力：图块只关注窗口之内"),
}
TOTAL = Text("total", "合计")
TOTAL_LINE = 7
"""Style of the sum in the colour of the text, because it is none of the kinds"""
SIZE = Text("side of a square image, pixels", "正方形图像的边长（像素）")
POWERS = ((1e12, "10¹² "), (1e9, "10⁹ "), (1e6, "10⁶ "))


def draw(page: Page, result: GrowthResult, y: float) -> float:
    """Draw a legend, and the charts side by side."""
    y = _legend(page, y, result)
    totals = result.values.sum(1)
    factor, power = next(((f, name) for f, name in POWERS if totals.max(initial=0) >= f), (1, ""))
    unit = Text("{power}{unit}", "{power}{unit}").format(power=power, unit=result.unit)
    per_row = page.per_row(len(result.designs), GAP, 280)
    wide = (
        (page.inner - GAP) / len(result.designs)
        if page.sheet.is_slide
        else (page.inner - GAP * (per_row - 1)) / per_row
    )
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


RENDERERS = (Renderer(GrowthResult, draw),)
