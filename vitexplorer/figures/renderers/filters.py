"""Small colour pictures in rows, each with its share of the variance below it."""

from __future__ import annotations

from vitexplorer.core.format import percent
from vitexplorer.core.text import Text
from vitexplorer.core.types import FiltersResult
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.caption import facts
from vitexplorer.figures.captioned import facts_below
from vitexplorer.figures.page import Page
from vitexplorer.figures.renderers.colours import enlarged
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.themes import SMALL_SIZE
from vitexplorer.figures.tiles import tiles

READING = Text("Under each: its number and its share of the variance.", "每幅下方：编号与所占方差比例。")


def draw(page: Page, result: FiltersResult) -> float:
    """Draw the pictures."""
    count, height, width, _ = result.values.shape
    y = page.header(result)
    room = Box(page.margin, y, page.inner, 300)
    if page.sheet.is_slide:
        narrowest = 100 if count <= 70 else 60
    else:
        narrowest = min(100, ((page.sheet.height - y) * page.inner / count) ** 0.5 - 30)
    boxes = tiles(count, (height, width), room, above=0, below=30, narrowest=narrowest)
    for number, (box, picture) in enumerate(zip(boxes, result.values, strict=True)):
        page.picture(box, enlarged(picture, 160))
        words = (
            f"{number}: {percent(result.shares[number])}"
            if box.width >= 80 or (not page.sheet.is_slide and box.width >= 64)
            else str(number)
        )
        page.text(box.x, box.bottom + 4, words, size=SMALL_SIZE, color=page.theme.muted)
    return facts_below(page, boxes[-1].bottom + 40, facts(result, remarks=(READING,)))


RENDERER = Renderer(FiltersResult, draw)
