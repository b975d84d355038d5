"""Small map of each head, side by side, after their image.

All heads share one scale, so that equal brightness means equal values; or each has its own, so that a faint head shows
its shape. The figure names the choice. The maximum under each map is always in the result's unit.
"""

from __future__ import annotations

import math

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.core.types import GalleryResult
from vitexplorer.figures.boxes import Box, Place, place
from vitexplorer.figures.caption import facts, head_text
from vitexplorer.figures.captioned import facts_below
from vitexplorer.figures.colors import direction, scale_of
from vitexplorer.figures.page import BAR_ROOM, Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.scaling import painted, painted_each, remark
from vitexplorer.figures.themes import SMALL_SIZE

GAP = 14
TITLE_ROOM, VALUE_ROOM = 22, 30  # above and below each map
NARROWEST, TALLEST = 105, 420  # pixels of a map


def draw(
    page: Page,
    result: GalleryResult,
    *,
    shared_scale: bool = True,
    colormap: str | None = None,
    opacity: float = 1.0,
) -> float:
    """Draw the maps.

    Options: shared_scale, one for all heads or each head's own; colormap, None takes inferno or, for signed maps,
    balance; opacity of the cells over the image, 1 hides it.
    """
    painted_maps = painted(result.values, "raw") if shared_scale else painted_each(result.values)
    scale = scale_of(painted_maps.values, colormap)
    tiles = _tiles(page, result, page.header(result))
    axis = page.color_scale(
        scale,
        beside=Box(max(tile.right for tile in tiles), tiles[0].image.y, 0, tiles[-1].bottom - tiles[0].image.y),
        title=result.unit if shared_scale else Text("share of the head's maximum", "占该头最大值的比例"),
    )
    page.picture(tiles[0].image, result.image)
    page.text(tiles[0].image.x, tiles[0].image.y - TITLE_ROOM, Text("image", "图像"), bold=True)
    _query(page, tiles[0], result)
    for head, (tile, values) in enumerate(zip(tiles[1:], painted_maps.values, strict=True)):
        page.text(tile.image.x, tile.image.y - TITLE_ROOM, head_text(head), bold=True)
        if opacity < 1:
            page.picture(tile.image, result.image)
        page.cells(tile.cells, values, axis, name=head_text(head).in_(page.language), opacity=opacity)
        _query(page, tile, result)
        page.text(tile.image.x, tile.bottom + 4, _below(result.values[head]), size=SMALL_SIZE, color=page.theme.muted)
    how = (
        Text("{raw}; one scale for all heads", "{raw}；所有头共用同一标度") if shared_scale else Text("{raw}", "{raw}")
    )
    normalisation = Text("{how}; {direction}", "{how}；{direction}").format(
        how=how.format(raw=painted_maps.normalisation), direction=direction(scale.colormap)
    )
    return facts_below(page, tiles[-1].bottom + VALUE_ROOM + 8, facts(result, normalisation, painted_maps.remarks))


def _below(values: np.ndarray) -> Text:
    finite = values[np.isfinite(values)]
    return remark(values) or Text("max {maximum:.3g}", "最大值 {maximum:.3g}").format(maximum=finite.max())


def _query(page: Page, tile: Place, result: GalleryResult) -> None:
    if isinstance(result.query, tuple):
        page.outline(tile.cells.part(result.grid.rows, result.grid.cols, (*result.query, 1, 1)))


def _tiles(page: Page, result: GalleryResult, y: float) -> list[Place]:
    """Return places for the image and each map, row by row, in the fewest rows with readable maps."""
    count, width = len(result.values) + 1, page.inner - BAR_ROOM

    def wide_in(rows: int) -> float:
        cols = math.ceil(count / rows)
        return (width - (cols - 1) * GAP) / cols

    rows = next(rows for rows in range(1, count + 1) if wide_in(rows) >= NARROWEST or rows == count)
    cols = math.ceil(count / rows)
    first = place(result.image, result.grid, Box(page.margin, y + TITLE_ROOM, wide_in(rows), TALLEST))
    across = first.right - page.margin + GAP
    down = first.bottom - y + VALUE_ROOM
    return [
        Place(*(box._replace(x=box.x + i % cols * across, y=box.y + i // cols * down) for box in first))
        for i in range(count)
    ]


RENDERER = Renderer(GalleryResult, draw)
