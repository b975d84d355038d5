"""One query step by step: a table of its strongest keys, and the effect of the scaling on all scores of the head."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.format import percent
from vitexplorer.core.text import Text, same
from vitexplorer.core.types import DotProductResult, prefix_text
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.captioned import caption_below
from vitexplorer.figures.chart import ABOVE, BELOW, LEFT, Chart, span
from vitexplorer.figures.page import Page
from vitexplorer.figures.rendering import Renderer

STRONGEST, STEP, CLOSE, TABLE, GAP, LEAST = 10, 30, 26, 620, 50, 220
LABEL = 12
"""Pixels right of an axis, for half of its last number"""
COLUMNS = (Text("q·k", "q·k"), Text("× scale", "× 缩放"), Text("+ bias", "+ 偏置"), Text("softmax", "softmax"))
RIGHT = (250, 345, 440, 530)
PAIRS = Text("pairs", "对数")
BEFORE = Text("q·k of all pairs: variance {variance:.4g}", "所有查询-键对的 q·k：方差 {variance:.4g}")
AFTER = Text("scaled, × {scale:.4g}: variance {variance:.4g}", "缩放后，× {scale:.4g}：方差 {variance:.4g}")
SCALED = Text("q·k × scale", "q·k × 缩放")
REST = Text("all other keys ({count})", "其余键（{count} 个）")


def key_text(key: str) -> Text:
    """Return a key in words: a patch's row and column, a prefix token, or padding."""
    if "," in key:
        row, col = key.split(",")
        return Text("row {row}, col {col}", "第 {row} 行第 {col} 列").format(row=row, col=col)
    return Text("padding", "窗口填充") if key == "padding" else prefix_text(key)


def draw(page: Page, result: DotProductResult, y: float) -> float:
    """Draw the table on the left and the two histograms on the right, or below it if the page is narrow."""
    bottom = _table(page, y, result)
    if page.inner >= TABLE + GAP + LEAST:
        bottom = max(bottom, _histograms(page, Box(page.margin + TABLE + GAP, y, page.inner - TABLE - GAP, 0), result))
    else:
        bottom = _histograms(page, Box(page.margin, bottom + 16, page.inner, 0), result)
    return caption_below(page, bottom + 20, result)


def _table(page: Page, y: float, result: DotProductResult) -> float:
    factor = min(1.0, page.inner / TABLE)
    step = STEP if page.sheet.is_slide else CLOSE
    bar = Box(page.margin + 540 * factor, y, 80 * factor, 13)
    page.text(page.margin, y, Text("strongest keys", "最强的键"), bold=True)
    columns = range(len(COLUMNS)) if factor == 1 else (1, 3)
    for at in columns:
        page.text(page.margin + RIGHT[at] * factor, y, COLUMNS[at], bold=True, anchor="right")
    y += 30
    order = np.argsort(-result.values, kind="stable")[:STRONGEST].tolist()
    largest = float(result.values.max(initial=0)) or 1.0
    for key in order:
        page.line((page.margin, y - 5), (page.margin + TABLE * factor, y - 5))
        page.text(page.margin, y, key_text(result.keys[key]))
        numbers = (result.scores[key], result.scaled[key], result.bias[key])
        for at in columns[:-1]:
            number_text = f"{numbers[at]:.3f}".replace("-", "−")
            page.text(page.margin + RIGHT[at] * factor, y, number_text, anchor="right")
        page.text(page.margin + RIGHT[3] * factor, y, percent(result.values[key]), anchor="right")
        length = bar.width * float(result.values[key]) / largest
        page.rectangle(bar._replace(y=y + 3, width=length), fill=page.theme.bar)
        y += step
    page.line((page.margin, y - 5), (page.margin + TABLE * factor, y - 5))
    others = len(result.values) - len(order)
    if others:
        page.text(page.margin, y, REST.format(count=others), muted=True)
        rest = float(result.values.sum() - result.values[order].sum())
        page.text(page.margin + RIGHT[3] * factor, y, percent(max(rest, 0.0)), muted=True, anchor="right")
        y += step
    return y


def _histograms(page: Page, room: Box, result: DotProductResult) -> float:
    """Draw both on one range of scores, so that the second shows how much the scaling squeezes the first.

    Side by side if `room` is wide enough, otherwise one under the other. Returns y below them.
    """
    beside = room.width >= 2 * (LEFT + LEAST) + GAP
    wide = (room.width - GAP) / 2 if beside else room.width
    left, y = room.x, room.y
    edges = result.bin_edges
    across = span(np.concatenate([edges, edges * result.scale]))
    panels = (
        (BEFORE.format(variance=result.score_variance), edges),
        (AFTER.format(scale=result.scale, variance=result.score_variance * result.scale**2), edges * result.scale),
    )
    for title, at in panels:
        page.text(left, y, title, bold=True)
        box = Box(left + LEFT, y + 26 + ABOVE, wide - LEFT - LABEL, 110)
        chart = Chart(box, across, span(result.all_scores))
        chart.frame(page, same("q·k") if at is edges else SCALED, PAIRS)
        pieces = []
        for count, low, high in zip(result.all_scores.tolist(), at[:-1].tolist(), at[1:].tolist(), strict=True):
            (x0, top), (x1, floor) = chart.at(low, count), chart.at(high, 0)
            pieces.append((Box(x0, top, x1 - x0, floor - top), page.theme.bar, f"{low:.3g} … {high:.3g}\n{count:,}"))
        page.bars(pieces, gap=0)
        below = box.bottom + BELOW
        left, y = (left + wide + GAP, y) if beside else (left, below)
    return below


RENDERERS = (Renderer(DotProductResult, draw),)
