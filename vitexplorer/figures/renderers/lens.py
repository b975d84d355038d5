"""Logit lens: the likeliest classes after each block, or the likeliest class of every patch."""

from __future__ import annotations

from collections import Counter

import numpy as np

from vitexplorer.core.format import percent
from vitexplorer.core.text import Text, same
from vitexplorer.core.types import LensResult, Prediction
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.caption import class_name, facts
from vitexplorer.figures.captioned import facts_below
from vitexplorer.figures.chart import axis_text
from vitexplorer.figures.colors import UNSIGNED, direction, lookup_table, scale_of
from vitexplorer.figures.meanings import CATEGORIES
from vitexplorer.figures.page import BAR_ROOM, Page
from vitexplorer.figures.renderers.colours import enlarged
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.themes import SMALL_SIZE
from vitexplorer.figures.tiles import tiles
from vitexplorer.figures.typesetting import width, wrap

LEFT, STEP, LEAST = 40, 40, 118
"""Pixels for the number of a block, for the height of a row, and the least width of a class"""
OTHER = "#3a3d42"
LETTERS = "ABCDEFGH"
SMALLEST = 14
"""Smallest cell in pixels that has room for a letter"""
BLOCK = Text("block {block}", "块 {block}")
PROBABILITY = Text("probability of the class", "该类别的概率")
RANKS = Text("likeliest class → less likely", "最可能的类别 → 较不可能")
FRAMED = Text("A frame marks the class that is likeliest after the last block.", "方框标出最后一块之后最可能的类别。")


def draw(page: Page, result: LensResult) -> float:
    """Draw a table of blocks and their likeliest classes, or a map of classes for each block."""
    return (_table if result.top else _maps)(page, result)


def _table(page: Page, result: LensResult) -> float:
    y = page.header(result) + 24
    ranks = max(map(len, result.top))
    ranks = min(ranks, max(1, int((page.inner - LEFT - BAR_ROOM) / LEAST)))
    step = page.high(STEP * len(result.top), y + 24, STEP * len(result.top)) / len(result.top)
    box = Box(page.margin + LEFT, y, page.inner - LEFT - BAR_ROOM, step * len(result.top))
    shares = np.full((len(result.top), ranks), np.nan)
    for row, top in enumerate(result.top):
        shares[row, : len(top[:ranks])] = [prediction.probability for prediction in top[:ranks]]
    scale = scale_of(np.append(shares, 1.0), None)
    where = Text("block %{customdata[0]}, rank %{customdata[1]}", "块 %{customdata[0]}，第 %{customdata[1]} 位")
    places = np.stack(np.meshgrid(result.blocks, np.arange(1, ranks + 1), indexing="ij"), axis=-1)
    axis = page.color_scale(scale, beside=box, title=PROBABILITY)
    page.cells(box, shares, axis, where=where, places=places)
    page.text(page.margin, y - 24, axis_text("blocks"), size=SMALL_SIZE, color=page.theme.muted)
    if ranks > 1:
        page.text(box.right, y - 24, RANKS, size=SMALL_SIZE, color=page.theme.muted, anchor="right")
    final = result.top[-1][0].index
    for row, (block, top) in enumerate(zip(result.blocks, result.top, strict=True)):
        for rank, prediction in enumerate(top[:ranks]):
            cell = box.part(len(result.top), ranks, (row, rank, 1, 1))
            _cell(page, cell, prediction)
            if prediction.index == final:
                page.outline(cell)
        page.text(box.x - 8, y + (row + 0.5) * step, str(block), anchor="right", vertical="middle")
    return facts_below(page, box.bottom + 24, facts(result, direction(scale.colormap), (FRAMED,)))


def _cell(page: Page, cell: Box, prediction: Prediction) -> None:
    red, green, blue = lookup_table(UNSIGNED)[round(255 * min(1.0, prediction.probability))] / 255
    color = "#000000" if 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2 > 0.18 else "#ffffff"
    share = percent(prediction.probability)
    room = cell.width - 24 - width(share, SMALL_SIZE)
    name = wrap(class_name(prediction).in_(page.language), room, SMALL_SIZE)
    middle = cell.centre[1]
    words = name[0] + ("…" if len(name) > 1 else "")
    page.text(cell.x + 8, middle, words, size=SMALL_SIZE, color=color, vertical="middle")
    page.text(cell.right - 8, middle, share, size=SMALL_SIZE, color=color, anchor="right", vertical="middle")


def _maps(page: Page, result: LensResult) -> float:
    """Draw a map for each block: the commonest classes coloured, the others grey, the commonest named below."""
    y = page.header(result)
    common = [index for index, _ in Counter(result.values.ravel().tolist()).most_common(len(CATEGORIES))]
    colors = {index: _rgb(color) for index, color in zip(common, CATEGORIES, strict=False)}
    x = float(page.margin)
    for index in [*common, None]:
        words = _name(result, index).in_(page.language)
        wide = width(words, SMALL_SIZE) + 44
        if x > page.margin and x + wide > page.right:
            x, y = float(page.margin), y + 26
        page.rectangle(Box(x, y, 16, 16), fill=OTHER if index is None else CATEGORIES[common.index(index)])
        if index is not None:
            page.text(
                x + 8,
                y + 8,
                LETTERS[common.index(index)],
                size=SMALL_SIZE,
                color="#ffffff",
                anchor="center",
                vertical="middle",
            )
        page.text(x + 22, y + 8, words, size=SMALL_SIZE, vertical="middle")
        x += wide
    shape = (result.grid.rows, result.grid.cols)
    room = Box(page.margin, y + 30, page.inner, 420)
    boxes = tiles(len(result.values) + 1, shape, room, above=24, below=34, narrowest=160)
    page.text(boxes[0].x, boxes[0].y - 22, Text("image", "图像"), bold=True)
    page.picture(boxes[0], result.image)
    for at, (box, block, classes) in enumerate(zip(boxes[1:], result.blocks, result.values, strict=True)):
        page.text(box.x, box.y - 22, BLOCK.format(block=block), bold=True)
        painted = np.array([colors.get(index, _rgb(OTHER)) for index in classes.ravel().tolist()])
        page.picture(box, enlarged(painted.reshape(*shape, 3)))
        _letters(page, box, result, at, common)
        index, count = Counter(classes.ravel().tolist()).most_common(1)[0]
        words = Text("{name}: {share}", "{name}：{share}").format(
            name=_name(result, index), share=percent(count / classes.size)
        )
        lines = wrap(words.in_(page.language), box.width, SMALL_SIZE)
        page.text(box.x, box.bottom + 3, lines[0] + ("…" if len(lines) > 1 else ""), size=SMALL_SIZE)
    below = Text(
        "Under each map: its commonest class and the share of patches.", "每图下方：最常见的类别及其图块比例。"
    )
    return facts_below(page, boxes[-1].bottom + 36, facts(result, remarks=(below,)))


def _letters(page: Page, box: Box, result: LensResult, at: int, common: list[int]) -> None:
    """Draw the letter of each patch's class; hover shows its name and probability."""
    rows, cols = result.grid.rows, result.grid.cols
    letters = dict(zip(common, LETTERS, strict=False)) if box.width / cols >= SMALLEST else {}
    points, glyphs, words = [], [], []
    for row, col in np.ndindex(rows, cols):
        index = int(result.values[at, row, col])
        points.append(box.part(rows, cols, (row, col, 1, 1)).centre)
        glyphs.append(letters.get(index, ""))
        words.append(
            f"{row},{col}: {_name(result, index).in_(page.language)}, {percent(result.probabilities[at, row, col])}"
        )
    page.letters(points, glyphs, words)


def _rgb(color: str) -> tuple[float, float, float]:
    return tuple(int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))


def _name(result: LensResult, index: int | None) -> Text:
    if index is None:
        return Text("other classes", "其他类别")
    name = result.class_names[index] if index < len(result.class_names) else same("")
    return class_name(Prediction(index, name, 0.0, 0.0))


RENDERER = Renderer(LensResult, draw)
