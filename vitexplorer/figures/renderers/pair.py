"""Two captures side by side: the picture of each with their difference, or the same numbers of both as bars."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.format import compact
from vitexplorer.core.text import Text
from vitexplorer.core.types import OUTPUT, PROBABILITY, PairResult, SidesResult, value_text
from vitexplorer.figures.boxes import Box, Place, place
from vitexplorer.figures.captioned import caption_below
from vitexplorer.figures.chart import style_of
from vitexplorer.figures.colors import Scale, direction, scale_of, signed_scale
from vitexplorer.figures.page import BAR_ROOM, Page
from vitexplorer.figures.renderers.pictures import enlarged
from vitexplorer.figures.rendering import Renderer

TITLE, GAP = 26, 18
"""Pixels over a picture and between pictures"""
DIFFERENCE = Text("right − left", "右 − 左")
ONE_SCALE = Text("raw; one scale for both; {direction}", "原始值；两侧共用同一标度；{direction}")
OWN_SCALES = Text("raw; each on its own scale; {direction}", "原始值；两侧各用自己的标度；{direction}")
STEP, COLUMN_GAP, BAR, NUMBERS = 58, 60, 10, 96
"""Pixels of a row, between columns, of a bar, and of the room for a number"""
NONE = Text("none", "无")


def draw_pair(page: Page, result: PairResult, y: float, *, opacity: float = 0.85) -> float:
    """Draw both, and the difference if it has a meaning. Option: opacity of a map's cells over the image.

    Maps share one scale if their grids and units are equal, so that equal brightness means equal values. On different
    grids each has its own scale, because shares are divided among more patches. The difference has a signed scale.
    """
    y += TITLE
    maps = (result.values[0], result.other)
    if result.values.ndim == 4:
        places = _places(page, result, y, 2, 0)
        for at, name, colours in zip(places, result.names, maps, strict=True):
            _name(page, at, name)
            page.picture(at.cells, enlarged(colours))
        return caption_below(page, max(at.bottom for at in places) + 24, result)
    shares = maps[0].shape == maps[1].shape
    scales = [scale_of(np.stack(maps), None)] * 2 if shares else [scale_of(values, None) for values in maps]
    bottom = _maps(page, result, y, opacity, scales)
    note = (ONE_SCALE if shares else OWN_SCALES).format(direction=direction(scales[0].colormap))
    return caption_below(page, bottom + 24, result, note)


def _maps(page: Page, result: PairResult, y: float, opacity: float, scales: list[Scale]) -> float:
    """Draw left, right and difference, each with its scale beside it. Returns y below them."""
    difference = result.difference
    left, right, *others = places = _places(page, result, y, 2 if difference is None else 3, BAR_ROOM)
    first = page.color_scale(scales[0], beside=left.whole, title=result.unit)
    is_shared = scales[0] is scales[1]
    second = first if is_shared else page.color_scale(scales[1], beside=right.whole, title=result.unit)
    for at, name, image, values, axis in (
        (left, result.names[0], result.image, result.values[0], first),
        (right, result.names[1], result.other_image, result.other, second),
    ):
        _name(page, at, name)
        page.picture(at.image, image)
        page.cells(at.cells, values, axis, name=name.in_(page.language), opacity=opacity)
    for at in others:
        axis = page.color_scale(signed_scale(difference), beside=at.whole, title=DIFFERENCE)
        _name(page, at, DIFFERENCE)
        page.cells(at.cells, difference, axis, name=DIFFERENCE.in_(page.language))
    return max(at.bottom for at in places)


def _places(page: Page, result: PairResult, y: float, count: int, bar: float) -> list[Place]:
    """Return places of `count` pictures, in a row or under each other, with room for a scale right of each."""
    per_row = page.per_row(count, GAP + bar, 180)
    wide = (page.inner - per_row * bar - (per_row - 1) * GAP) / per_row
    tall = page.high(400, y + 40) if per_row == count else 260
    places: list[Place] = []
    for at in range(count):
        image, grid = (result.other_image, result.other_grid) if at == 1 else (result.image, result.grid)
        row, col = divmod(at, per_row)
        top = y if row == 0 else max(one.bottom for one in places) + GAP + TITLE
        if col and row:
            top = places[-1].image.y
        places.append(place(image, grid, Box(page.margin + col * (wide + bar + GAP), top, wide, tall)))
    return places


def _name(page: Page, at: Place, name: Text) -> None:
    page.text(at.image.x, at.image.y - TITLE, name, bold=True)


def draw_sides(page: Page, result: SidesResult, y: float) -> float:
    """Draw a pair of bars for each number, with the numbers beside them, in two columns if there is room.

    Probabilities are drawn as shares of 1. In other rows the longer bar fills the room, since each has its own unit.
    Outputs may be negative; then both bars begin at zero.
    """
    colors = (page.theme.bar, style_of(page, 1).color)
    for name, color in zip(result.names, colors, strict=True):
        page.rectangle(Box(page.margin, y + 5, 22, BAR), fill=color)
        y = page.small(page.margin + 30, y, name, pixels=page.inner - 30) + 4
    y += 18
    columns, wide = page.columns(2, COLUMN_GAP, 320)
    rows = -(-len(result.entries) // columns)
    for at in range(len(result.entries)):
        col, row = divmod(at, rows)
        box = Box(page.margin + col * (wide + COLUMN_GAP), y + row * STEP, wide, STEP)
        _entry(page, result, at, box, colors)
    return caption_below(page, y + rows * STEP + 12, result)


def _entry(page: Page, result: SidesResult, at: int, box: Box, colors: tuple[str, str]) -> None:
    unit, values = result.units[at], result.values[at]
    is_count = unit not in (PROBABILITY, OUTPUT)
    low = float(np.nanmin(values, initial=0))
    high = 1.0 if unit == PROBABILITY else float(np.nanmax(values, initial=0))
    name = result.entries[at].in_(page.language)
    if unit != result.units[-1]:
        name += f" ({unit.in_(page.language)})"
    page.small(box.x, box.y, name, within=box.width)
    room = box.width - NUMBERS
    per_unit = room / ((high - low) or 1.0)
    for side, (value, color) in enumerate(zip(values.tolist(), colors, strict=True)):
        y = box.y + 21 + side * 15
        page.rectangle(Box(box.x, y, room, BAR), fill=page.theme.line)
        if np.isfinite(value):
            page.rectangle(Box(box.x + (min(0.0, value) - low) * per_unit, y, abs(value) * per_unit, BAR), fill=color)
        number_text = NONE if not np.isfinite(value) else compact(int(value)) if is_count else value_text(value, unit)
        page.small(box.right, y + BAR / 2, number_text, anchor="right", vertical="middle")


RENDERERS = (Renderer(PairResult, draw_pair), Renderer(SidesResult, draw_sides))
