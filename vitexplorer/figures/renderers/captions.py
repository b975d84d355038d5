"""Caption of an image: the sentence, and the patches of each of its words by several readings."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.format import percent
from vitexplorer.core.text import Text, same
from vitexplorer.core.text_results import CaptionResult
from vitexplorer.figures.boxes import Box, place
from vitexplorer.figures.captioned import caption_below
from vitexplorer.figures.colors import directed, scale_of
from vitexplorer.figures.page import BAR_ROOM, Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.scaling import painted_each

GAP, HEADING, TITLE = 14, 46, 24
"""Pixels between maps, over the maps of some words, and over each row of maps"""
LEAST, MOST = 84, 170
"""Pixels of a map's side at least and at most"""
SENTENCE = Text("“{sentence}”", "“{sentence}”")
SHARE = Text("share of the map's maximum", "占该图最大值的比例")
EACH = Text("each map divided by its own maximum", "每幅图分别除以各自的最大值")
NAME = same("{word}, {method}")
IMAGE = Text("image", "图像")


def draw_caption(page: Page, result: CaptionResult, y: float) -> float:
    """Draw the sentence, the image, and under each word that names something its map by each reading."""
    y = page.total(y, SENTENCE.format(sentence=result.sentence), page.inner) + 10
    words = np.flatnonzero(result.has_place).tolist()
    per_row, wide = page.columns(1 + len(words), GAP, LEAST)
    wide = min(MOST, wide, (page.inner - BAR_ROOM + GAP) / per_row - GAP)
    tall = place(result.image, result.grid, Box(0, 0, wide, wide)).bottom
    if not words:
        page.picture(Box(page.margin, y, wide, tall), result.image)
        return caption_below(page, y + tall + GAP, result)
    painted = painted_each(result.values[:, words].reshape(-1, *result.values.shape[2:]))
    maps = painted.values.reshape(len(result.methods), len(words), *result.values.shape[2:])
    scale = scale_of(maps, None)
    beside = Box(page.margin, y + HEADING + TITLE, per_row * (wide + GAP) - GAP, tall)
    axis = page.color_scale(scale, beside=beside, title=SHARE)
    step = TITLE + tall + GAP
    for first in range(-1, len(words), per_row):  # -1 is the image
        numbers = range(first, min(first + per_row, len(words)))
        for at, number in enumerate(numbers):
            spot = Box(page.margin + at * (wide + GAP), y + HEADING + TITLE, wide, tall)
            if number < 0:
                page.small(spot.x, y, IMAGE, muted=True)
                page.picture(spot, result.image)
                continue
            word = result.words[words[number]]
            page.small(spot.x, y, word, within=wide, bold=True)
            page.small(spot.x, y + 20, percent(result.probabilities[words[number]]), muted=True)
            for row, values in enumerate(maps[:, number]):
                cells = place(result.image, result.grid, spot._replace(y=spot.y + row * step)).cells
                name = NAME.format(word=word, method=result.titles[row])
                page.cells(cells, values, axis, name=name.in_(page.language))
        left = page.margin + (wide + GAP if first < 0 and len(numbers) > 1 else 0)
        for row, title in enumerate(result.titles):
            page.small(left, y + HEADING + row * step, title, muted=True)
        y += HEADING + len(result.titles) * step + GAP
    return caption_below(page, y, result, directed(EACH, scale.colormap), painted.remarks)


RENDERERS = (Renderer(CaptionResult, draw_caption),)
