"""Proofs of a check-up: pictures with the answers to them, and a matrix before and after a repair."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.check_up_results import AnsweredPicturesResult, TwoMatricesResult
from vitexplorer.core.text import Text
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.captioned import caption_below
from vitexplorer.figures.class_names import LINE, class_names
from vitexplorer.figures.colors import UNSIGNED, Scale, directed, scale_of
from vitexplorer.figures.page import BAR_ROOM, Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.scaling import RAW

GAP, HEADING, WORDS, LEAST, MOST = 16, 26, 26, 120, 280
"""Pixels between pictures, over and under each, and of the side of each at least and at most"""
MARKS = {True: "✓ ", False: "✗ ", None: ""}
"""Signs before an answer: right, wrong, without a label"""
BETWEEN, NAMES, LARGEST, NUMBER = 40, 150, 460, 24
"""Pixels between two matrices, for the names of rows, of a matrix, and of a cell with a number"""
SHARE = Text("share of the label's pictures", "占该标签图像的比例")
WHERE = Text("label %{customdata[0]}, answer %{customdata[1]}", "标签 %{customdata[0]}，回答 %{customdata[1]}")


def draw_answers(page: Page, result: AnsweredPicturesResult, y: float) -> float:
    """Draw each picture above the same one after the repair, with the model's answer under both."""
    sides, count = result.values.shape
    per_row, wide = page.columns(count, GAP, LEAST)
    heading = HEADING if sides > 1 else 0
    tall = page.high(sides * (MOST + heading + WORDS), y + page.margin) / sides - heading - WORDS
    side = min(wide, MOST, max(tall, LEAST))
    step = heading + side + WORDS
    for at in range(count):
        row, col = divmod(at, per_row)
        x = page.margin + col * (side + GAP)
        for number in range(sides):
            top = y + (row * sides + number) * step
            if col == 0 and sides > 1:
                page.text(x, top, result.headings[number], bold=True)
            pixels = result.pixels[number][at]
            scale = side / max(pixels.shape[:2])
            box = Box(x, top + heading, pixels.shape[1] * scale, pixels.shape[0] * scale)
            page.picture(box, pixels)
            page.rectangle(box, line={"color": page.theme.line, "width": 1})
            words = MARKS[result.right[number][at]] + result.answers[number][at].in_(page.language)
            page.small(x, top + heading + side + 4, words, within=side, bold=result.right[number][at] is True)
    rows = -(-count // per_row)
    return caption_below(page, y + rows * sides * step + 8, result)


def draw_matrices(page: Page, result: TwoMatricesResult, y: float) -> float:
    """Draw the matrices on one scale: counts by class as shares of their row, anything else as it is."""
    _, rows, cols = result.values.shape
    names = [name.in_(page.language) for name in result.names]
    names_room = min(NAMES, 0.2 * page.inner) if names else 0
    values = result.values.astype(float)
    if names:
        values = values / np.maximum(values.sum(2, keepdims=True), 1)
    scale = Scale(UNSIGNED, 0.0, 1.0) if names else scale_of(values, None)
    sides = len(result.headings)
    per_row, _ = page.columns(sides, BETWEEN, 250)
    below = 2 * LINE + 24
    room = (page.inner - BAR_ROOM - names_room - (per_row - 1) * BETWEEN) / per_row
    tall = page.high(LARGEST, y + HEADING + below + page.margin) / -(-sides // per_row)
    wide = min(room, LARGEST, max(tall, LEAST) * cols / rows)
    boxes = []
    for at, heading in enumerate(result.headings):
        row, col = divmod(at, per_row)
        height = wide * rows / cols
        x, top = page.margin + names_room + col * (wide + BETWEEN), y + HEADING + row * (height + HEADING + below)
        boxes.append(Box(x, top, wide, height))
        page.text(x, top - HEADING, heading, bold=True)
    axis = page.color_scale(scale, beside=boxes[per_row - 1], title=SHARE if names else result.unit)
    places = np.stack(np.meshgrid(*[np.array(names, dtype=object)] * 2, indexing="ij"), axis=-1) if names else None
    for box, drawn, counts, heading in zip(boxes, values, result.values, result.headings, strict=True):
        where = {"where": WHERE, "places": places} if names else {}
        page.cells(box, drawn, axis, name=heading.in_(page.language), **where)
        if names:
            class_names(page, box, names, names_room - 14 if box.x == boxes[0].x else 0)
            page.small(box.centre[0], box.bottom + LINE + 12, result.axis_names[1], muted=True, anchor="center")
        if names and wide / cols >= NUMBER:
            for row, col in np.argwhere(counts).tolist():
                color = scale.text_color(float(drawn[row, col]))
                centre = box.cell(rows, cols, row, col).centre
                page.small(*centre, f"{counts[row, col]}", color=color, anchor="center", vertical="middle")
    bottom = max(box.bottom for box in boxes) + (below if names else 14)
    return caption_below(page, bottom, result, None if names else directed(RAW, scale.colormap))


RENDERERS = (Renderer(AnsweredPicturesResult, draw_answers), Renderer(TwoMatricesResult, draw_matrices))
