"""Picture of each of two captures side by side, and their difference if it has a meaning.

Maps share one scale if their grids and units are equal, so that equal brightness means equal values. On different grids
each has its own scale, because shares are divided among more patches. The difference has a signed scale of its own.
"""

from __future__ import annotations

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.core.types import PairResult
from vitexplorer.figures.boxes import Box, Place, place
from vitexplorer.figures.caption import facts
from vitexplorer.figures.captioned import facts_below
from vitexplorer.figures.colors import SIGNED, direction, scale_of
from vitexplorer.figures.page import BAR_ROOM, Page
from vitexplorer.figures.renderers.colours import enlarged
from vitexplorer.figures.rendering import Renderer

TITLE, GAP = 26, 18
"""Pixels over a picture and between pictures"""
DIFFERENCE = Text("right − left", "右 − 左")
ONE_SCALE = Text("raw; one scale for both; {direction}", "原始值；两侧共用同一标度；{direction}")
OWN_SCALES = Text("raw; each on its own scale; {direction}", "原始值；两侧各用自己的标度；{direction}")


def draw(page: Page, result: PairResult, *, opacity: float = 0.85) -> float:
    """Draw both, and the difference. Option: opacity of a map's cells over the image."""
    y = page.header(result) + TITLE
    if result.values.ndim == 4:
        return facts_below(page, _colours(page, result, y) + 24, facts(result))
    shares = result.values[0].shape == result.other.shape
    scales = _scales(result, shares)
    bottom = _maps(page, result, y, opacity)
    scale_note = (ONE_SCALE if shares else OWN_SCALES).format(direction=direction(scales[0].colormap))
    return facts_below(page, bottom + 24, facts(result, scale_note))


def _scales(result: PairResult, shares: bool):
    maps = (result.values[0], result.other)
    if shares:
        both = scale_of(np.stack(maps), None)
        return both, both
    return scale_of(maps[0], None), scale_of(maps[1], None)


def _maps(page: Page, result: PairResult, y: float, opacity: float) -> float:
    """Draw left, right and difference, each with its scale beside it. Returns y below them."""
    difference = result.difference
    count = 2 if difference is None else 3
    left, *others = _places(page, result, y, count, BAR_ROOM)
    shares = result.values[0].shape == result.other.shape
    scales = _scales(result, shares)
    first = page.color_scale(scales[0], beside=_whole(left), title=result.unit)
    second = first if shares else page.color_scale(scales[1], beside=_whole(others[0]), title=result.unit)
    pictures = [
        (left, result.names[0], result.image, result.values[0], first),
        (others[0], result.names[1], result.other_image, result.other, second),
    ]
    for at, name, image, values, axis in pictures:
        _name(page, at, name)
        page.picture(at.image, image)
        page.cells(at.cells, values, axis, name=name.in_(page.language), opacity=opacity)
    if difference is not None:
        largest = float(np.abs(difference).max(initial=0)) or 1.0
        at, range_ = others[1], np.array([-largest, largest])
        axis = page.color_scale(scale_of(range_, SIGNED), beside=_whole(at), title=DIFFERENCE)
        _name(page, at, DIFFERENCE)
        page.cells(at.cells, difference, axis, name=DIFFERENCE.in_(page.language))
    return max(at.bottom for at in (left, *others))


def _colours(page: Page, result: PairResult, y: float) -> float:
    places = _places(page, result, y, 2, 0)
    for at, name, colours in zip(places, result.names, (result.values[0], result.other), strict=True):
        _name(page, at, name)
        page.picture(at.cells, enlarged(colours))
    return max(at.bottom for at in places)


def _places(page: Page, result: PairResult, y: float, count: int, bar: float) -> list[Place]:
    """Return places of `count` pictures, in a row or under each other, with room for a scale right of each."""
    per_row = page.per_row(count, GAP + bar, 180)
    wide = (page.inner - per_row * bar - (per_row - 1) * GAP) / per_row
    tall = page.high(400, y + 40) if per_row == count else 260
    places: list[Place] = []
    for at in range(count):
        right = at == 1
        image, grid = (result.other_image, result.other_grid) if right else (result.image, result.grid)
        row, col = divmod(at, per_row)
        top = y if row == 0 else max(one.bottom for one in places) + GAP + TITLE
        if col and row:
            top = places[-1].image.y
        places.append(place(image, grid, Box(page.margin + col * (wide + bar + GAP), top, wide, tall)))
    return places


def _name(page: Page, at: Place, name: Text) -> None:
    page.text(at.image.x, at.image.y - TITLE, name, bold=True)


def _whole(at: Place) -> Box:
    return Box(at.image.x, at.image.y, at.right - at.image.x, at.bottom - at.image.y)


RENDERER = Renderer(PairResult, draw)
