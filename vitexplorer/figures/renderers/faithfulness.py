"""Deletion and insertion curves side by side; the table below names the lines and gives the areas under them."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.format import thousandths
from vitexplorer.core.text import Text, same
from vitexplorer.core.types import FaithfulnessResult
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.caption import facts
from vitexplorer.figures.captioned import facts_below
from vitexplorer.figures.chart import ABOVE, BELOW, LEFT, Chart, Style, span, style_for
from vitexplorer.figures.page import Page
from vitexplorer.figures.rendering import Renderer

GAP, TITLE = 40, 30
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


def draw(page: Page, result: FaithfulnessResult) -> float:
    """Draw both panels and the legend."""
    y = page.header(result)
    names = [CURVES.get(curve, same(curve)) for curve in result.curves]
    per_row = page.per_row(len(names), GAP, 300)
    wide = (page.inner - GAP * (per_row - 1)) / per_row
    others = y + TITLE + ABOVE + BELOW + 56 + 28 * len(result.methods)
    tall = page.high(360, others if per_row == len(names) else page.sheet.height, 200)
    last = len(result.methods) - 1
    random = Style(page.theme.muted, "dot", "x-thin-open")
    styles = [random if at == last else style_for(page, key, at) for at, key in enumerate(result.methods)]
    bottom = y
    for at, curve in enumerate(result.curves):
        left, y = page.margin + at % per_row * (wide + GAP), bottom if at % per_row == 0 else y
        page.text(left, y, names[at], bold=True)
        chart = Chart(Box(left + LEFT, y + TITLE + ABOVE, wide - LEFT, tall), (0.0, 1.0), span(result.values))
        chart.frame(page, SHARES.get(curve, same(curve)), result.unit)
        for style, title, values in zip(styles, result.titles, result.values[:, at].tolist(), strict=True):
            chart.curve(page, result.steps, values, style, title)
        bottom = chart.box.bottom + BELOW
    return facts_below(page, _legend(page, bottom + 10, result, styles, names) + 16, facts(result))


def _legend(page: Page, y: float, result: FaithfulnessResult, styles: list[Style], names: list[Text]) -> float:
    """Draw a line for each method: its sample, its title, its areas; the best of each column is bold."""
    apart = min(260, page.inner / 4)
    columns = [page.right - apart * (len(names) - 1 - at) for at in range(len(names))]
    for x, name, curve in zip(columns, names, result.curves, strict=True):
        head = AREA.format(curve=name) if apart == 260 else SHORT.get(curve, name)
        page.text(x, y, head, color=page.theme.muted, anchor="right")
    best = [
        float((np.min if curve == "deletion" else np.max)(result.areas[:, at]))
        for at, curve in enumerate(result.curves)
    ]
    y += 28
    for style, title, areas in zip(styles, result.titles, result.areas.tolist(), strict=True):
        page.rule(y - 4)
        style.sample(page, page.margin + 6, y + 10)
        page.text(page.margin + 60, y, title)
        for x, area, most in zip(columns, areas, best, strict=True):
            page.text(x, y, thousandths(area), bold=area == most, anchor="right")
        y += 28
    return y


RENDERER = Renderer(FaithfulnessResult, draw)
