"""Tiles: many small pictures of one shape in rows, and the hatching of missing parts."""

from __future__ import annotations

import math
from collections.abc import Iterable

from vitexplorer.figures.boxes import Box
from vitexplorer.figures.page import Page

GAP = 14


def tiles(count: int, shape: tuple[int, int], room: Box, *, above: float, below: float, narrowest: float) -> list[Box]:
    """Return boxes of `count` pictures of `shape` (rows, cols) in the fewest rows with `narrowest` pixels each.

    They fill the width of `room`, whose height limits each; `above` and `below` are pixels for words around each.
    """
    rows = next(
        n for n in range(1, count + 1) if n == count or (room.width + GAP) / math.ceil(count / n) - GAP >= narrowest
    )
    cols = math.ceil(count / rows)
    width = min((room.width + GAP) / cols - GAP, room.height * shape[1] / shape[0])
    height = width * shape[0] / shape[1]
    return [
        Box(room.x + i % cols * (width + GAP), room.y + above + i // cols * (above + height + below), width, height)
        for i in range(count)
    ]


def largest(count: int, shape: tuple[int, int], room: Box, *, above: float, below: float) -> float:
    """Return the width of the largest tiles of which `count` fit into `room`, with the words around each."""
    return max(
        min(
            (room.width + GAP) / cols - GAP,
            (room.height / math.ceil(count / cols) - above - below) * shape[1] / shape[0],
        )
        for cols in range(1, count + 1)
    )


def around(boxes: list[Box]) -> Box:
    """Return the smallest box that holds all."""
    x, y = min(box.x for box in boxes), min(box.y for box in boxes)
    return Box(x, y, max(box.right for box in boxes) - x, max(box.bottom for box in boxes) - y)


def hatch(page: Page, boxes: Iterable[Box], color: str | None = None, apart: float = 8) -> None:
    """Draw slanted lines over boxes that are empty."""
    nowhere = (math.nan, math.nan)
    points: list[tuple[float, float]] = []
    for box in boxes:
        offset = -box.height + apart / 2
        while offset < box.width:
            left, right = max(0.0, offset), min(box.width, offset + box.height)
            points += [
                (box.x + left, box.bottom - (left - offset)),
                (box.x + right, box.bottom - (right - offset)),
                nowhere,
            ]
            offset += apart
    if points:
        page.curve(points, color or page.theme.muted, width=1)
