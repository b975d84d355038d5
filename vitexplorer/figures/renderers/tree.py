"""Nested rectangles whose areas are the counts (a treemap); a click on one enlarges it."""

from __future__ import annotations

from vitexplorer.core.format import percent
from vitexplorer.core.part_names import part_text
from vitexplorer.core.text import Text
from vitexplorer.core.types import TreeResult
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.captioned import caption_below
from vitexplorer.figures.meanings import OTHER, part_color
from vitexplorer.figures.page import Page
from vitexplorer.figures.rendering import Renderer

HEIGHT = 640
READING = Text(
    "An area is a count; one colour is one kind of module. In the page a click enlarges a rectangle.",
    "面积表示数目，同一颜色为同一类模块。在页面中点击矩形即可放大。",
)


def kinds_of(result: TreeResult) -> list[str]:
    """Return the kind of each module, which decides its colour: its part of the block, or elsewhere of the model."""
    kinds: list[str] = []
    for name, parent in zip(result.names, result.parents, strict=True):
        opens = parent < 0 or result.names[parent].startswith(("block ", "stage "))
        kinds.append(name.partition(" ")[0] if opens else kinds[parent])
    return kinds


def draw(page: Page, result: TreeResult, y: float) -> float:
    """Draw the total and the rectangles."""
    total = Text("{total:,} {unit}", "{total:,} {unit}").format(total=result.total, unit=result.unit)
    top = page.total(y, total) + 14
    box = Box(page.margin, top, page.inner, page.high(HEIGHT, top + 8))
    kinds = kinds_of(result)
    leaf = [index not in result.parents for index in range(len(result.names))]
    page.treemap(
        box,
        [part_text(name).in_(page.language) for name in result.names],
        result.parents,
        result.values.tolist(),
        [part_color(kind) if alone else OTHER for kind, alone in zip(kinds, leaf, strict=True)],
        [
            f"{_path(page, result, index)}\n{count:,} ({percent(count / max(result.total, 1))})"
            for index, count in enumerate(result.values.tolist())
        ],
    )
    return caption_below(page, box.bottom + 20, result, remarks=(READING,))


def _path(page: Page, result: TreeResult, index: int) -> str:
    """Return the module and all modules around it, outermost first."""
    words = []
    while index >= 0:
        words.append(part_text(result.names[index]).in_(page.language))
        index = result.parents[index]
    return " › ".join(reversed(words))


RENDERERS = (Renderer(TreeResult, draw),)
