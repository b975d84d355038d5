"""Class token against mean patch: their cosine after each block, and the predictions of every reading."""

from __future__ import annotations

from vitexplorer.core.text import Text
from vitexplorer.core.types import PREFIX_WORDS, PoolingResult, Prediction, ReadOut
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.caption import class_name, facts
from vitexplorer.figures.captioned import facts_below
from vitexplorer.figures.page import Page
from vitexplorer.figures.renderers.curves import plot
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.themes import SMALL_SIZE
from vitexplorer.figures.typesetting import wrap

GUTTER, STEP = 36, 36
OWN = Text("the model's own pooling", "模型自身的池化")
TRAINED = Text("▶ {reading} (as trained)", "▶ {reading}（训练时所用）")


def draw(page: Page, result: PoolingResult) -> float:
    """Draw the curve and, side by side, a table for each reading."""
    readings = result.readings
    tall = 28 + STEP * max((len(reading.top) for reading in readings), default=0)
    y = plot(page, result, page.header(result), 280, below=18 + tall) + 18
    if readings:
        per_row = page.per_row(len(readings), GUTTER, 190)
        wide = (page.inner - GUTTER * (per_row - 1)) / per_row
        bottoms = [
            _table(
                page, Box(page.margin + at % per_row * (wide + GUTTER), y + at // per_row * (tall + 12), wide, 0), one
            )
            for at, one in enumerate(readings)
        ]
        y = max(bottoms) + 22
    return facts_below(page, y, facts(result))


def _table(page: Page, box: Box, reading: ReadOut) -> float:
    """Draw the likeliest classes with bars of their probability, or the one output. Returns y below them."""
    words = PREFIX_WORDS.get(reading.reading, OWN)
    page.text(box.x, box.y, TRAINED.format(reading=words) if reading.is_own else words, bold=reading.is_own)
    y = box.y + 28
    page.line((box.x, y - 4), (box.right, y - 4), page.theme.bar if reading.is_own else None)
    for prediction in reading.top:
        name = wrap(class_name(prediction).in_(page.language), box.width - 64, SMALL_SIZE)
        page.text(box.x, y, name[0] + ("…" if len(name) > 1 else ""), size=SMALL_SIZE)
        page.text(box.right, y, prediction.display_value, size=SMALL_SIZE, anchor="right")
        if isinstance(prediction, Prediction):
            page.rectangle(Box(box.x, y + 21, box.width, 5), fill=page.theme.line)
            page.rectangle(Box(box.x, y + 21, box.width * prediction.probability, 5), fill=page.theme.bar)
        y += STEP
    return y


RENDERER = Renderer(PoolingResult, draw)
