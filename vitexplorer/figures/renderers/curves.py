"""Lines of numbers along an axis; they differ in colour and symbol."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.types import CurvesResult
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.captioned import caption_below
from vitexplorer.figures.chart import ABOVE, BELOW, LEFT, Chart, span, style_of
from vitexplorer.figures.page import Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.themes import TEXT_SIZE
from vitexplorer.figures.typesetting import width

LARGEST, LEGEND = 420, 34


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


RENDERERS = (Renderer(CurvesResult, draw),)
