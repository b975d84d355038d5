"""Numbers along an axis as lines that differ in colour and symbol."""

from __future__ import annotations

import numpy as np

from vitexplorer.figures.caption import facts
from vitexplorer.figures.captioned import facts_below
from vitexplorer.figures.chart import ABOVE, BELOW, LEFT, Chart, span, style_of
from vitexplorer.figures.page import INNER, MARGIN, Box, Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.typesetting import width
from vitexplorer.types import CurvesResult

LARGEST = 420


def plot(page: Page, result: CurvesResult, y: float, height: float = LARGEST) -> float:
    """The lines and, of several, a legend. Returns y below them."""
    lines = np.atleast_2d(result.values)
    chart = Chart(
        Box(MARGIN + LEFT, y + ABOVE, INNER - LEFT, height), span(result.x, from_zero=False), span(result.values)
    )
    chart.frame(page, result.x_name, result.unit, whole=np.issubdtype(result.x.dtype, np.integer))
    x, below = float(MARGIN + LEFT), chart.box.bottom + BELOW
    for number, (line, name) in enumerate(zip(lines, result.curves, strict=True)):
        style = style_of(page, number)
        chart.curve(page, result.x.tolist(), line.tolist(), style, name)
        if len(lines) > 1:
            style.sample(page, x, below + 12)
            page.text(x + 54, below + 12, name, vertical="middle")
            x += 84 + width(name.in_(page.language), 15)
    return below + (34 if len(lines) > 1 else 0)


def draw(page: Page, result: CurvesResult) -> float:
    """Draw the lines."""
    return facts_below(page, plot(page, result, page.header(result)) + 10, facts(result))


RENDERER = Renderer(CurvesResult, draw)
