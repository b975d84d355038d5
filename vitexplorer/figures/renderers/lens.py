"""Answers read out of tokens: those of each pooling, and after each block (logit lens), also of every patch."""

from __future__ import annotations

from collections import Counter

import numpy as np
from PIL.ImageColor import getrgb

from vitexplorer.core.format import percent
from vitexplorer.core.stacking import stacked
from vitexplorer.core.text import Text, same
from vitexplorer.core.types import PREFIX_WORDS, LensResult, PoolingResult, Prediction, ReadOut
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.caption import class_name, labelled
from vitexplorer.figures.captioned import caption_below
from vitexplorer.figures.chart import axis_text
from vitexplorer.figures.colors import Scale, direction, scale_of
from vitexplorer.figures.meanings import CATEGORIES
from vitexplorer.figures.page import BAR_ROOM, Page
from vitexplorer.figures.renderers.curves import plot
from vitexplorer.figures.renderers.pictures import enlarged
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.themes import SMALL_SIZE
from vitexplorer.figures.tiles import tiles
from vitexplorer.figures.typesetting import width

GUTTER, ANSWER = 36, 36
"""Pixels between tables of readings, and of an answer's height"""
OWN = Text("the model's own pooling", "模型自身的池化")
TRAINED = Text("▶ {reading} (as trained)", "▶ {reading}（训练时所用）")
LEFT, STEP, LEAST = 40, 40, 118
"""Pixels for the number of a block, for the height of a row, and the least width of a class"""
OTHER = "#3a3d42"
LETTERS = "ABCDEFGH"
SMALLEST = 14
"""Smallest cell in pixels that has room for a letter"""
BLOCK = Text("block {block}", "块 {block}")
WHERE = Text("block %{customdata[0]}, rank %{customdata[1]}", "块 %{customdata[0]}，第 %{customdata[1]} 位")
PROBABILITY = Text("probability of the class", "该类别的概率")
RANKS = Text("likeliest class → less likely", "最可能的类别 → 较不可能")
FRAMED = Text("A frame marks the class that is likeliest after the last block.", "方框标出最后一块之后最可能的类别。")
UNDER = Text("Under each map: its commonest class and the share of patches.", "每图下方：最常见的类别及其图块比例。")


def draw_pooling(page: Page, result: PoolingResult, y: float) -> float:
    """Draw the cosine of class token and mean patch after each block and, side by side, a table for each reading."""
    readings = result.readings
    tall = 28 + ANSWER * max((len(reading.top) for reading in readings), default=0)
    y = plot(page, result, y, 280, below=18 + tall) + 18
    if readings:
        per_row, wide = page.columns(len(readings), GUTTER, 190)
        bottoms = []
        for at, reading in enumerate(readings):
            row, col = divmod(at, per_row)
            box = Box(page.margin + col * (wide + GUTTER), y + row * (tall + 12), wide, 0)
            bottoms.append(_answers(page, box, reading))
        y = max(bottoms) + 22
    return caption_below(page, y, result)


def _answers(page: Page, box: Box, reading: ReadOut) -> float:
    """Draw the likeliest classes with bars of their probability, or the one output. Returns y below them."""
    words = PREFIX_WORDS.get(reading.reading, OWN)
    page.text(box.x, box.y, TRAINED.format(reading=words) if reading.is_own else words, bold=reading.is_own)
    y = box.y + 28
    page.line((box.x, y - 4), (box.right, y - 4), page.theme.bar if reading.is_own else None)
    for prediction in reading.top:
        page.small(box.x, y, class_name(prediction), within=box.width - 64)
        page.small(box.right, y, prediction.display_value, anchor="right")
        if isinstance(prediction, Prediction):
            page.meter(Box(box.x, y + 21, box.width, 5), prediction.probability)
        y += ANSWER
    return y


def draw_lens(page: Page, result: LensResult, y: float) -> float:
    """Draw a table of blocks and their likeliest classes, or a map of classes for each block."""
    if not result.top:
        return _maps(page, result, y)
    y += 24
    ranks = min(max(map(len, result.top)), max(1, int((page.inner - LEFT - BAR_ROOM) / LEAST)))
    tops = [top[:ranks] for top in result.top]
    step = page.high(STEP * len(tops), y + 24, STEP * len(tops)) / len(tops)
    box = Box(page.margin + LEFT, y, page.inner - LEFT - BAR_ROOM, step * len(tops))
    shares = stacked([prediction.probability for prediction in top] for top in tops)
    scale = scale_of(np.append(shares, 1.0), None)
    places = np.stack(np.meshgrid(result.blocks, np.arange(1, ranks + 1), indexing="ij"), axis=-1)
    axis = page.color_scale(scale, beside=box, title=PROBABILITY)
    page.cells(box, shares, axis, where=WHERE, places=places)
    page.small(page.margin, y - 24, axis_text("blocks"), muted=True)
    if ranks > 1:
        page.small(box.right, y - 24, RANKS, muted=True, anchor="right")
    final = tops[-1][0].index
    for row, (block, top) in enumerate(zip(result.blocks, tops, strict=True)):
        for rank, prediction in enumerate(top):
            cell = box.cell(len(tops), ranks, row, rank)
            _cell(page, cell, prediction, scale)
            if prediction.index == final:
                page.outline(cell)
        page.text(box.x - 8, y + (row + 0.5) * step, str(block), anchor="right", vertical="middle")
    return caption_below(page, box.bottom + 24, result, direction(scale.colormap), (FRAMED,))


def _cell(page: Page, cell: Box, prediction: Prediction, scale: Scale) -> None:
    color, share = scale.text_color(prediction.probability), percent(prediction.probability)
    room = cell.width - 24 - width(share, SMALL_SIZE)
    page.small(cell.x + 8, cell.centre[1], class_name(prediction), within=room, color=color, vertical="middle")
    page.small(cell.right - 8, cell.centre[1], share, color=color, anchor="right", vertical="middle")


def _maps(page: Page, result: LensResult, y: float) -> float:
    """Draw a map for each block: the commonest classes coloured, the others grey, the commonest named below."""
    common = [index for index, _ in Counter(result.values.ravel().tolist()).most_common(len(CATEGORIES))]
    colors = dict(zip(common, CATEGORIES, strict=False))
    letters = dict(zip(common, LETTERS, strict=False))
    x = float(page.margin)
    for index in [*common, None]:
        words = _name(result, index).in_(page.language)
        wide = width(words, SMALL_SIZE) + 44
        if x > page.margin and x + wide > page.right:
            x, y = float(page.margin), y + 26
        page.rectangle(Box(x, y, 16, 16), fill=colors.get(index, OTHER))
        if index is not None:
            page.small(x + 8, y + 8, letters[index], color="#ffffff", anchor="center", vertical="middle")
        page.small(x + 22, y + 8, words, vertical="middle")
        x += wide
    shape = (result.grid.rows, result.grid.cols)
    room = Box(page.margin, y + 30, page.inner, 420)
    boxes = tiles(len(result.values) + 1, shape, room, above=24, below=34, narrowest=160)
    page.text(boxes[0].x, boxes[0].y - 22, Text("image", "图像"), bold=True)
    page.picture(boxes[0], result.image)
    for at, (box, block, classes) in enumerate(zip(boxes[1:], result.blocks, result.values, strict=True)):
        page.text(box.x, box.y - 22, BLOCK.format(block=block), bold=True)
        painted = np.array([getrgb(colors.get(index, OTHER)) for index in classes.ravel().tolist()]) / 255
        page.picture(box, enlarged(painted.reshape(*shape, 3)))
        _letters(page, box, result, at, letters)
        index, count = Counter(classes.ravel().tolist()).most_common(1)[0]
        words = labelled(_name(result, index), percent(count / classes.size))
        page.small(box.x, box.bottom + 3, words, within=box.width)
    return caption_below(page, boxes[-1].bottom + 36, result, remarks=(UNDER,))


def _letters(page: Page, box: Box, result: LensResult, at: int, letters: dict[int, str]) -> None:
    """Draw the letter of each patch's class; hover shows its name and probability."""
    rows, cols = result.grid.rows, result.grid.cols
    has_room = box.width / cols >= SMALLEST
    points, glyphs, words = [], [], []
    for row, col in np.ndindex(rows, cols):
        index = int(result.values[at, row, col])
        points.append(box.cell(rows, cols, row, col).centre)
        glyphs.append(letters.get(index, "") if has_room else "")
        share = percent(result.probabilities[at, row, col])
        words.append(f"{row},{col}: {_name(result, index).in_(page.language)}, {share}")
    page.letters(points, glyphs, words)


def _name(result: LensResult, index: int | None) -> Text:
    if index is None:
        return Text("other classes", "其他类别")
    name = result.class_names[index] if index < len(result.class_names) else same("")
    return class_name(Prediction(index, name, 0.0, 0.0))


RENDERERS = (Renderer(PoolingResult, draw_pooling), Renderer(LensResult, draw_lens))
