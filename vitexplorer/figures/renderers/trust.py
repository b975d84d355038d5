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
from vitexplorer.figures.beyond import ROOM, note_beyond
from vitexplorer.figures.large_and_small import Panel, large_and_small
from vitexplorer.figures.page import Page
from vitexplorer.figures.renderers.evaluation import draw_evaluation
from vitexplorer.figures.renderers.methods import draw_shares, scale_of_shares, share_of_scale, share_title
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.typesetting import without_brackets

OPACITY = 0.85
"""Opacity of the cells over the image"""
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
    shares = {method: share_of_scale(here.own_values(method)) for method in rows}
    scale = scale_of_shares([*shares.values()])
    panels = [
        Panel(
            here.image,
            here.grid,
            without_brackets(here.titles[method]),
            words.format(gain=plus_minus(gains[method], here.uncertainties[method])),
        )
        for method, words in zip(rows, (*PLACES[: len(best)], CHANCE), strict=True)
    ]
    places = large_and_small(page, panels, y)
    axis = page.color_scale(scale, beside=places[0].image, title=share_title(scale))
    for method, at in zip(rows, places, strict=True):
        draw_shares(page, at.cells, here, method, shares[method], axis, OPACITY)
        note_beyond(page, at.image.x, at.bottom + 2, int(scale.outside(shares[method]).sum()))
    return max(at.bottom for at in places) + (ROOM if scale.goes_on else 0)


RENDERERS = (Renderer(TrustResult, draw),)
