"""Figures of each class as bars side by side, with its number of images; the worst class first."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.core.types import PerClassResult
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.caption import facts
from vitexplorer.figures.captioned import facts_below
from vitexplorer.figures.page import Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.themes import SMALL_SIZE
from vitexplorer.figures.typesetting import wrap

NAMES, STEP, BAR, GUTTER = 230, 30, 12, 24
MOST = 60
IMAGES = Text("images", "图像数")
LEFT_OUT = Text("The {count} best classes are not drawn.", "未画出最好的 {count} 个类别。")


def draw(page: Page, result: PerClassResult) -> float:
    """Draw the bars."""
    y = page.header(result)
    columns = len(result.figures)
    names = _names(page)
    wide = (page.inner - names - 80) / columns
    for at, name in enumerate(result.figures):
        page.text(page.margin + names + at * wide, y, name, size=SMALL_SIZE, color=page.theme.muted)
    page.text(page.right, y, IMAGES, size=SMALL_SIZE, color=page.theme.muted, anchor="right")
    y += 26
    order = np.argsort(result.values[:, -1], kind="stable")
    for number in order[:MOST].tolist():
        _row(page, y, result, number, wide)
        y += STEP
    remarks = (LEFT_OUT.format(count=len(order) - MOST),) if len(order) > MOST else ()
    return facts_below(page, y + 12, facts(result, remarks=remarks))


def _names(page: Page) -> float:
    """Return the room for the names of classes."""
    return min(NAMES, 0.3 * page.inner)


def _row(page: Page, y: float, result: PerClassResult, number: int, wide: float) -> None:
    name = wrap(result.classes[number], _names(page) - 20, SMALL_SIZE)
    page.text(page.margin, y, name[0] + ("…" if len(name) > 1 else ""), size=SMALL_SIZE)
    for at, value in enumerate(result.values[number].tolist()):
        x, room = page.margin + _names(page) + at * wide, max(0, wide - GUTTER - 60)
        page.rectangle(Box(x, y + 4, room, BAR), fill=page.theme.line)
        page.rectangle(Box(x, y + 4, room * value, BAR), fill=page.theme.bar)
        page.text(x + room + 8, y, f"{100 * value:.0f} %", size=SMALL_SIZE)
    page.text(page.right, y, str(int(result.support[number])), size=SMALL_SIZE, anchor="right")


RENDERER = Renderer(PerClassResult, draw)
