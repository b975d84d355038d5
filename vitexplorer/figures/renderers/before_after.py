"""Changed run beside the plain run: both maps on their images, the difference, the classes, the class token.

Both maps share one scale, so that equal brightness means equal values; the difference has a signed scale of its own.
"""

from __future__ import annotations

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.core.types import OUTPUT, PREFIX_WORDS, BeforeAfterResult, value_text
from vitexplorer.figures.boxes import Box, place
from vitexplorer.figures.caption import class_name
from vitexplorer.figures.captioned import caption_below
from vitexplorer.figures.chart import ABOVE, BELOW, LEFT, Chart, style_of
from vitexplorer.figures.colors import scale_of, signed_scale
from vitexplorer.figures.page import BAR_ROOM, Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.scaling import RAW

PLAIN, CHANGED = Text("plain run", "原始运行"), Text("changed run", "更改后")
DIFFERENCE = Text("{after} − {before}", "{after} − {before}").format(before=PLAIN, after=CHANGED)
CLASSES = Text("likeliest classes: {before} → {after}", "最可能的类别：{before} → {after}").format(
    before=PLAIN, after=CHANGED
)
ONE_OUTPUT = Text("output: {before} → {after}", "输出值：{before} → {after}").format(before=PLAIN, after=CHANGED)
COSINE = Text("cosine between the two: {token}", "两者之间的余弦：{token}")
TITLE, GAP, STEP = 26, 18, 46
"""Pixels over a map, between maps, and for one class"""


def draw(page: Page, result: BeforeAfterResult, y: float, *, opacity: float = 0.85) -> float:
    """Draw the three maps, then classes and cosines side by side. Options: opacity of the cells over the image."""
    bottom = _maps(page, result, y, opacity) + 30
    gutter, whole = 60, Box(page.margin, bottom, page.inner, 0)
    if result.classes and page.per_row(2, gutter, 260) == 2:
        half = (page.inner - gutter) / 2
        left = _classes(page, result, whole._replace(width=half))
        below = max(left, _cosines(page, result, whole._replace(x=page.margin + half + gutter, width=half)))
    else:
        bottom = _classes(page, result, whole) + 16 if result.classes else bottom
        below = _cosines(page, result, whole._replace(y=bottom))
    scale = Text("{raw}; one scale for both runs", "{raw}；两次运行共用同一标度").format(raw=RAW)
    return caption_below(page, below + 12, result, scale)


def _maps(page: Page, result: BeforeAfterResult, y: float, opacity: float) -> float:
    """Draw plain, changed and difference. Returns y below them."""
    if page.per_row(3, BAR_ROOM, 180) == 3:
        wide = (page.inner - 2 * BAR_ROOM - 2 * GAP) / 3
        first = place(result.image, result.grid, Box(page.margin, y + TITLE, wide, 400))
        step = first.right - page.margin + GAP
        second, third = first.moved(step), first.moved(2 * step + BAR_ROOM - GAP)
    else:
        first = place(result.image, result.grid, Box(page.margin, y + TITLE, page.inner - BAR_ROOM, 260))
        second = first.below(TITLE + GAP)
        third = second.below(TITLE + GAP)
    both = scale_of(np.stack([result.before, result.after]), None)
    axis = page.color_scale(both, beside=second.whole, title=result.unit)
    signed = page.color_scale(signed_scale(result.values), beside=third.whole, title=DIFFERENCE)
    for at, word, image, values, colors in (
        (first, PLAIN, result.image, result.before, axis),
        (second, CHANGED, result.changed_image, result.after, axis),
        (third, DIFFERENCE, None, result.values, signed),
    ):
        page.text(at.image.x, at.image.y - TITLE, word, bold=True)
        if image is not None:
            page.picture(at.image, image)
        page.cells(at.cells, values, colors, name=word.in_(page.language), opacity=opacity if image is not None else 1)
    return third.bottom


def _classes(page: Page, result: BeforeAfterResult, box: Box) -> float:
    """Draw two bars for each class: the plain run's probability, thinner the changed run's. Returns y below them.

    For a model with one output both bars begin at zero and share a scale up to the larger of the two.
    """
    of_output = result.classes[0].unit == OUTPUT
    page.text(box.x, box.y, ONE_OUTPUT if of_output else CLASSES, bold=True)
    y = box.y + 30
    changed = style_of(page, 1).color
    ends = [value for change in result.classes for value in (change.before, change.after)]
    low, high = (min(0.0, *ends), max(0.0, *ends)) if of_output else (0.0, 1.0)
    per_unit = box.width / ((high - low) or 1.0)
    for change in result.classes:
        page.small(box.x, y, class_name(change), within=box.width - 150)
        numbers = f"{value_text(change.before, change.unit)} → {value_text(change.after, change.unit)}"
        page.small(box.right, y, numbers, anchor="right")
        for at, value, color in ((20, change.before, page.theme.bar), (28, change.after, changed)):
            page.rectangle(Box(box.x, y + at, box.width, 6), fill=page.theme.line)
            left = box.x + (min(0.0, value) - low) * per_unit
            page.rectangle(Box(left, y + at, abs(value) * per_unit, 6), fill=color)
        y += STEP
    x = box.x
    for word, color in ((PLAIN, page.theme.bar), (CHANGED, changed)):
        page.rectangle(Box(x, y + 6, 22, 6), fill=color)
        page.small(x + 30, y, word)
        x += 140
    return y + 24


def _cosines(page: Page, result: BeforeAfterResult, box: Box) -> float:
    """Draw the token's cosine after each block. Returns y below the chart."""
    blocks = np.arange(len(result.cosines))
    low = min(0.0, float(np.floor(10 * result.cosines.min()) / 10))
    inner = Box(box.x + LEFT, box.y + ABOVE + 8, box.width - LEFT, 230)
    chart = Chart(inner, (0.0, max(1.0, float(blocks[-1]))), (low, 1.0))
    name = COSINE.format(token=PREFIX_WORDS[result.token])
    chart.frame(page, Text("after block (counted from 0)", "经过的块（从 0 开始编号）"), name, whole=True)
    chart.curve(page, blocks.tolist(), result.cosines.tolist(), style_of(page, 1), name)
    return inner.bottom + BELOW


RENDERERS = (Renderer(BeforeAfterResult, draw),)
