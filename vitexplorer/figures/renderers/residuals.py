"""Error of each prediction over the true number: a point for each validation image; zero is right."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.core.types import ResidualsResult
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.caption import facts
from vitexplorer.figures.captioned import facts_below
from vitexplorer.figures.chart import ABOVE, BELOW, LEFT, Chart, span, style_of
from vitexplorer.figures.page import Page
from vitexplorer.figures.rendering import Renderer

HEIGHT = 440
TRUE = Text("true number", "真实值")


def draw(page: Page, result: ResidualsResult) -> float:
    """Draw the points and the line at zero."""
    y = page.header(result)
    largest = float(np.abs(result.values).max(initial=0)) or 1.0
    low, high = span(np.array([-largest, largest]))
    across = span(result.targets, from_zero=False)
    chart = Chart(
        Box(page.margin + LEFT, y + ABOVE, page.inner - LEFT, page.high(HEIGHT, y + ABOVE + BELOW + 10)),
        across,
        (low, high),
    )
    chart.frame(page, TRUE, result.unit)
    page.line(chart.at(across[0], 0), chart.at(across[1], 0), page.theme.text)
    style = style_of(page, 0)
    for true, off in zip(result.targets.tolist(), result.values.tolist(), strict=True):
        page.curve([chart.at(true, off)], style.color, words=[f"{true:.4g}: {off:+.4g}"], symbol=style.symbol)
    return facts_below(page, chart.box.bottom + BELOW + 10, facts(result))


RENDERER = Renderer(ResidualsResult, draw)
