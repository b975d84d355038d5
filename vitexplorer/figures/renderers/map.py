"""Map on its image: crisp cells, because the model has no finer answer than its patches.

The map is alone with its caption beside it, or image, map and overlay are side by side. The query's attention to tokens
without a place in the image is drawn as bars.
"""

from __future__ import annotations

import numpy as np

from vitexplorer.core.format import percent
from vitexplorer.core.registry import unknown_name
from vitexplorer.core.sharp_map import SharpMapResult
from vitexplorer.core.text import Text, present
from vitexplorer.core.types import MapResult, PatchGrid, prefix_text
from vitexplorer.figures.beyond import ROOM, ends_early, note_beyond
from vitexplorer.figures.boxes import Box, place
from vitexplorer.figures.caption import Fact, facts
from vitexplorer.figures.captioned import facts_below, rows_of_facts
from vitexplorer.figures.colors import Scale, directed, map_scale, scale_of
from vitexplorer.figures.page import BAR_ROOM, Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.scaling import Painted, largest, painted, remark
from vitexplorer.figures.themes import SMALL_SIZE
from vitexplorer.figures.typesetting import width

BARS, BAR_STEP, LOWEST = 60, 23, 6
"""Pixels for the shares below a map with their title, for each of them, and for the lowest number of its scale"""
ARRANGEMENTS = ("overlay", "side_by_side")
SHARE = Text("share of the maximum", "占最大值的比例")
PANELS = (Text("image", "图像"), Text("map", "图"), Text("map over image", "叠加"))


def draw(
    page: Page,
    result: MapResult,
    y: float,
    *,
    arrangement: str = "overlay",
    colormap: str | None = None,
    opacity: float = 0.85,
    normalise: str = "raw",
) -> float:
    """Draw the map.

    The scale of a signed map may end before its largest value, see `map_scale`. A map of one query holds shares of
    attention or cosines, and ends at the largest: the query's own cosine, 1, is what the others are compared with.

    Options: arrangement "overlay" or "side_by_side" (image, map, overlay); colormap, None takes inferno or, for signed
    maps, ice_inferno; opacity of the cells over the image, 0-1; normalise "raw" or "max".
    """
    if arrangement not in ARRANGEMENTS:
        raise unknown_name("arrangement", arrangement, ARRANGEMENTS)
    painted_map = painted(result.values, normalise)
    scale = (map_scale if result.query is None else scale_of)(painted_map.values, colormap)
    drawn = _side_by_side if arrangement == "side_by_side" else _overlay
    return drawn(page, result, painted_map, scale, opacity, y)


def _overlay(page: Page, result: MapResult, painted_map: Painted, scale: Scale, opacity: float, y: float) -> float:
    shares = _shares(result)
    note = ROOM if scale.goes_on else 0 if page.sheet.is_slide else LOWEST
    room = page.high(600, y + page.margin + note + (BARS + BAR_STEP * len(shares) if shares else 0))
    at = place(result.image, result.grid, Box(page.margin, y, min(room, page.inner - BAR_ROOM), room))
    axis = page.color_scale(scale, beside=at.whole, title=SHARE if painted_map.rescaled else result.unit)
    page.picture(at.image, result.image, grey=True)
    _paint(page, at.cells, result, painted_map, axis, opacity)
    note_beyond(page, at.image.x, at.bottom + 4, _count_beyond(result, painted_map, scale))
    if not page.sheet.is_slide:
        bottom = at.bottom + note
        if shares:
            bottom = _share_bars(page, page.margin, bottom + BARS - 28, at.right - page.margin, shares)
        return rows_of_facts(page, page.margin, bottom, page.inner, _facts(result, painted_map, scale))
    left = at.right + BAR_ROOM + 30
    pixels = page.right - left
    bottom = _share_bars(page, left, y, pixels, shares)
    bottom = rows_of_facts(page, left, bottom, pixels, _facts(result, painted_map, scale))
    return max(at.bottom + note, bottom)


def _side_by_side(page: Page, result: MapResult, painted_map: Painted, scale: Scale, opacity: float, y: float) -> float:
    gap = 20
    image = place(result.image, result.grid, Box(page.margin, y + 26, (page.inner - 2 * gap - BAR_ROOM) / 3, 520))
    step = image.right - page.margin + gap
    alone, both = image.moved(step), image.moved(2 * step)
    for at, word in zip((image, alone, both), PANELS, strict=True):
        page.text(at.image.x, y, word, muted=True)
    axis = page.color_scale(scale, beside=both.whole, title=SHARE if painted_map.rescaled else result.unit)
    page.picture(image.image, result.image)
    page.picture(both.image, result.image, grey=True)
    _outlines(page, image.cells, result)
    _paint(page, alone.cells, result, painted_map, axis, 1.0)
    _paint(page, both.cells, result, painted_map, axis, opacity)
    note_beyond(page, both.image.x, both.bottom + 4, _count_beyond(result, painted_map, scale))
    return facts_below(page, image.bottom + 28, _facts(result, painted_map, scale))


def _facts(result: MapResult, painted_map: Painted, scale: Scale) -> tuple[Fact, ...]:
    window = Text("The large frame is the window the query can look into.", "大框是该查询所能看到的窗口。")
    how = painted_map.normalisation
    if scale.goes_on:
        how = ends_early(how, largest(painted_map.values))
    how = directed(how, scale.colormap)
    return facts(result, how, present(*painted_map.remarks, window if result.window else None))


def _paint(page: Page, box: Box, result: MapResult, painted_map: Painted, axis: str, opacity: float) -> None:
    page.cells(box, painted_map.values, axis, opacity=opacity, places=_patches(result))
    _outlines(page, box, result)
    if empty_note := remark(painted_map.values):
        x, y = box.centre
        page.rectangle(Box(box.x, y - 22, box.width, 44), fill=page.theme.paper)
        page.text(x, y, empty_note, bold=True, anchor="center", vertical="middle")


def _patch_grid(result: MapResult) -> PatchGrid:
    return result.plain_grid if isinstance(result, SharpMapResult) else result.grid


def _patches(result: MapResult) -> np.ndarray:
    """Return row and column of the patch in which each cell lies, (rows, cols, 2)."""
    cells = np.stack(np.indices(result.values.shape), axis=-1)
    return cells // (result.grid.rows // _patch_grid(result).rows)


def _count_beyond(result: MapResult, painted_map: Painted, scale: Scale) -> int:
    """Count the patches with a cell beyond the scale."""
    return len(np.unique(_patches(result)[scale.outside(painted_map.values)], axis=0))


def _outlines(page: Page, box: Box, result: MapResult) -> None:
    """Draw the query's patch and, in a windowed block, the window that it attends in."""
    rows, cols = _patch_grid(result).rows, _patch_grid(result).cols
    for cells in window_parts(result.window, rows, cols):
        page.outline(box.part(rows, cols, cells))
    if isinstance(result.query, tuple):
        page.outline(box.cell(rows, cols, *result.query))


def window_parts(window: tuple[int, int, int, int] | None, rows: int, cols: int) -> list[tuple[int, int, int, int]]:
    """Split a window (top, left, height, width) that wraps around the grid into up to four rectangles within it."""
    if window is None:
        return []
    top, left, height, width = window
    return [
        (row, col, tall, wide)
        for row, tall in _intervals(top, height, rows)
        for col, wide in _intervals(left, width, cols)
    ]


def _intervals(start: int, length: int, size: int) -> list[tuple[int, int]]:
    """Return (start, length) of the pieces of a cyclic interval within 0..size."""
    start %= size
    first = min(length, size - start)
    return [(start, first), (0, length - first)] if length > first else [(start, first)]


def _shares(result: MapResult) -> list[tuple[Text, float]]:
    """Return the shares of every prefix token and of the padding; of the patches too if all sum to one."""
    weights = zip(result.prefix_names, result.prefix_weights, strict=False)  # a view may leave them out
    shares = [(prefix_text(name), float(share)) for name, share in weights]
    if result.padding_mass:
        shares.append((Text("padding of windows", "窗口填充"), result.padding_mass))
    if shares and result.identity_mass:
        shares.append((Text("patches, residual alone", "图块（仅经残差连接）"), result.identity_mass))
    on_patches = float(np.sum(result.values))
    if shares and abs(on_patches + sum(share for _, share in shares) - 1) < 0.01:  # not so for a maximum over heads
        shares.insert(0, (Text("patches (the map)", "图块（即此图）"), on_patches))
    return shares


def _share_bars(page: Page, x: float, y: float, pixels: float, shares: list[tuple[Text, float]]) -> float:
    """Draw shares of the query's attention as bars. Returns y below them."""
    if not shares:
        return y
    page.text(x, y, Text("Where the query's attention goes", "该查询的注意力分配"), bold=True)
    y += 28
    labels = 14 + max(width(word.in_(page.language), SMALL_SIZE) for word, _ in shares)
    room = pixels - labels - 62
    for word, share in shares:
        page.small(x, y + 9, word, vertical="middle")
        page.meter(Box(x + labels, y + 2, room, 14), float(np.clip(share, 0, 1)))
        page.small(x + pixels, y + 9, percent(share), anchor="right", vertical="middle")
        y += BAR_STEP
    return y + 18


RENDERERS = (Renderer(MapResult, draw),)
