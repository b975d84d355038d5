"""Cost of one image: a bar for each part, split by kind of multiplication, and the closed formula below."""

from __future__ import annotations

from vitexplorer.core.types import CostResult
from vitexplorer.figures.page import Page
from vitexplorer.figures.renderers.count import Row, draw_rows, merged
from vitexplorer.figures.rendering import Renderer


def draw(page: Page, result: CostResult) -> float:
    """Draw the total, the bars and the terms."""
    kinds = [kind.in_(page.language) for kind in result.kinds]
    rows = [
        Row(part, part, pieces={(kind, kind): count for kind, count in zip(kinds, split, strict=True) if count})
        for part, split in zip(result.parts, result.split.tolist(), strict=True)
    ]
    return draw_rows(page, result, merged(rows))


RENDERER = Renderer(CostResult, draw)
