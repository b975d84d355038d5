"""Verdict on maps: the best one of this image large, the next one and the random map beside it, all numbers below.

Each map is drawn as a share of its own largest magnitude, with the area between its curves on this image above it. On
the page the table of all numbers is folded away. A click on a map opens its view.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vitexplorer.core.format import plus_minus
from vitexplorer.core.text import Text
from vitexplorer.core.trust_result import TrustResult
from vitexplorer.core.types import MethodsResult
from vitexplorer.figures.boxes import Box, Place, place
from vitexplorer.figures.colors import scale_of
from vitexplorer.figures.page import BAR_ROOM, Page
from vitexplorer.figures.renderers.evaluation import draw_evaluation
from vitexplorer.figures.renderers.methods import NARROWEST, SHARE, WHERE
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.scaling import painted_each
from vitexplorer.figures.typesetting import without_brackets

GAP, HEAD, OPACITY = 20, 46, 0.85
"""Pixels between maps and of the two lines above one; opacity of the cells over the image"""
PLACES = (Text("first: {gain}", "第一：{gain}"), Text("second: {gain}", "第二：{gain}"))
CHANCE = Text("chance: {gain}", "随机：{gain}")
TABLE = Text("All methods and their numbers", "所有方法及其数值")


def draw(page: Page, result: TrustResult, y: float) -> float:
    """Draw the best map large, the next one and the random one beside it, and the table, folded in a window."""
    bottom = _maps(page, result, y)
    page.fold(bottom + 8, TABLE)
    return draw_evaluation(page, _with_interval(result), bottom + 26)


def _with_interval(result: TrustResult) -> TrustResult:
    """Return the result with the interval of the column of this image, whose numbers have none of their own."""
    gain, half = result.gains, result.here.uncertainties
    at = np.arange(len(gain)), result.protocols.index("this_image")
    low, high = result.low.copy(), result.high.copy()
    low[at], high[at] = gain - half, gain + half
    return replace(result, low=low, high=high)


def _maps(page: Page, result: TrustResult, y: float) -> float:
    """Draw up to three maps. Returns y below them."""
    here, gains = result.here, result.gains
    best = np.argsort(-gains[:-1], kind="stable")[:2].tolist()
    rows = [*best, len(here.methods) - 1]
    values = painted_each(here.values[rows]).values
    scale = scale_of(values, None)
    places = _places(page, here, len(rows), y)
    axis = page.color_scale(scale, beside=places[0].image, title=SHARE)
    for method, at, words in zip(rows, places, (*PLACES[: len(best)], CHANCE), strict=True):
        line = words.format(gain=plus_minus(gains[method], here.uncertainties[method]))
        _map(page, at, here, method, axis, line)
    return max(at.bottom for at in places)


def _places(page: Page, here: MethodsResult, count: int, y: float) -> list[Place]:
    """Return the place of the large map and of the small ones, beside it or, on a narrow page, below it."""
    ratio = here.image.shape[0] / here.image.shape[1]
    tall = page.high(560, y + HEAD + page.margin + 8, 0)
    top = y + HEAD
    if page.inner < 4 * NARROWEST:
        first = place(here.image, here.grid, Box(page.margin, top, page.inner - BAR_ROOM, page.inner * ratio))
        wide = (page.inner - GAP) / 2
        lefts, tops = [page.margin, page.margin + wide + GAP], [first.bottom + GAP + HEAD] * 2
    else:
        wide = ((HEAD + tall - GAP) / 2 - HEAD) / ratio
        most = page.inner - BAR_ROOM - wide
        first = place(here.image, here.grid, Box(page.margin, top, min(most, tall / ratio), tall))
        left = first.right + BAR_ROOM
        lefts, tops = [left, left], [top, top + wide * ratio + GAP + HEAD]
    boxes = [Box(left, at, wide, wide * ratio) for left, at in zip(lefts, tops, strict=True)]
    return [first, *(place(here.image, here.grid, box) for box in boxes)][:count]


def _map(page: Page, at: Place, here: MethodsResult, method: int, axis: str, line: Text) -> None:
    """Draw one map under its name and its gain."""
    values, title, pixels = here.own_values(method), without_brackets(here.titles[method]), at.right - at.image.x
    page.text(at.image.x, at.image.y - HEAD, title, bold=True)
    page.small(at.image.x, at.image.y - HEAD + 22, line, muted=True, within=pixels)
    page.picture(at.image, here.image, grey=True)
    row, col = np.indices(values.shape)
    page.cells(
        at.cells,
        painted_each(values[None]).values[0],
        axis,
        name=title.in_(page.language),
        opacity=OPACITY,
        where=WHERE,
        places=np.stack([row, col, values], axis=-1),
        press={"view": here.methods[method], "name": title.in_(page.language)},
    )


RENDERERS = (Renderer(TrustResult, draw),)
