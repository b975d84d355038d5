"""Texts and an image: bars of their cosines, and the patches coloured by their best text."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.format import percent, signed
from vitexplorer.core.text import Text
from vitexplorer.core.text_results import SegmentationResult, TextScoresResult
from vitexplorer.figures.boxes import Box, place
from vitexplorer.figures.captioned import caption_below
from vitexplorer.figures.meanings import ATTENTION, CATEGORIES
from vitexplorer.figures.page import Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.themes import SMALL_SIZE
from vitexplorer.figures.typesetting import first_line, width

NAMES, NUMBERS, LEAST, MOST, GAP = 0.34, 150, 20, 52, 8
"""Share of the width for the texts; pixels of the numbers, of the lowest and the highest bar, and between bars"""
SWATCH, BETWEEN, LINE = 14, 26, 24
"""Pixels of a colour in the legend, between two entries, and of one of its lines"""
BESIDE, ENTRY, BAR = 260, 46, 8
"""Pixels beside the picture from which the legend stands there, of one of its entries, and of the bar in it"""
OVER = "99"
"""Opacity of the colours over the picture, in hexadecimal"""
AGAIN = Text("There are more texts than colours: some share one.", "文字多于颜色：有些文字颜色相同。")


def draw_scores(page: Page, result: TextScoresResult, y: float) -> float:
    """Draw a bar for each text, the best first, from a cosine of zero; behind it the cosine and the probability."""
    order = np.argsort(-result.values, kind="stable").tolist()
    low, high = min(0.0, float(result.values.min())), max(0.0, float(result.values.max()))
    left = page.margin + NAMES * page.inner
    per_cosine = (page.right - NUMBERS - left) / ((high - low) or 1)
    zero = left - low * per_cosine
    step = min(MOST, max(LEAST, page.high(MOST * len(order), y + page.margin, 0) / len(order)))
    pieces, top = [], y
    for at in order:
        value, share = float(result.values[at]), float(result.answers[at])
        box = Box(min(zero, zero + value * per_cosine), y, abs(value) * per_cosine, step - GAP)
        pieces.append((box, ATTENTION, f"{result.texts[at]}\n{signed(value)}"))
        middle = box.centre[1]
        page.small(page.margin, middle, result.texts[at], within=left - page.margin - 12, vertical="middle")
        number = signed(value) if np.isnan(share) else f"{signed(value)}  ({percent(share)})"
        page.small(page.right, middle, number, anchor="right", vertical="middle")
        y += step
    page.bars(pieces, gap=0)
    page.line((zero, top - 4), (zero, y - GAP + 4), page.theme.muted)
    return caption_below(page, y + 8, result, remarks=(result.how,))


def draw_segmentation(page: Page, result: SegmentationResult, y: float) -> float:
    """Draw the grey picture under the colours of the texts, and each text's share of the patches beside or above it."""
    room = page.high(600, y + page.margin)
    is_wide = page.inner - room >= BESIDE and len(result.texts) * ENTRY <= room
    if not is_wide:
        y = _legend(page, y, result) + 8
        room = page.high(600, y + page.margin)
    at = place(result.image, result.grid, Box(page.margin, y, min(room, page.inner), room))
    page.picture(at.image, result.image, grey=True)
    rows, cols = result.values.shape
    pieces = [
        (
            at.cells.cell(rows, cols, row, col),
            CATEGORIES[best % len(CATEGORIES)] + OVER,
            f"({row}, {col})\n{result.texts[best]}",
        )
        for (row, col), best in np.ndenumerate(result.values)
    ]
    page.bars(pieces, gap=0)
    bottom = max(at.bottom, _legend_beside(page, at.right + BETWEEN, y, result)) if is_wide else at.bottom
    remarks = (AGAIN,) if len(result.texts) > len(CATEGORIES) else ()
    return caption_below(page, bottom + 12, result, remarks=remarks)


def _legend(page: Page, y: float, result: SegmentationResult) -> float:
    """Draw each text with its colour and its share of the patches. Returns y below them."""
    words = [
        f"{first_line(text, 0.6 * page.inner, SMALL_SIZE)} {percent(share)}"
        for text, share in zip(result.texts, _shares(result), strict=True)
    ]
    widths = [SWATCH + 6 + width(word, SMALL_SIZE) + BETWEEN for word in words]
    row = 0
    for number, ((x, row), word) in enumerate(zip(page.in_rows(widths, page.margin), words, strict=True)):
        line = y + row * LINE
        page.rectangle(Box(x, line + 2, SWATCH, SWATCH), fill=CATEGORIES[number % len(CATEGORIES)])
        page.small(x + SWATCH + 6, line, word)
    return y + (row + 1) * LINE


def _legend_beside(page: Page, x: float, y: float, result: SegmentationResult) -> float:
    """Draw each text in a line of its own, with a bar for its share of the patches. Returns y below them."""
    bars = []
    for number, (text, share) in enumerate(zip(result.texts, _shares(result), strict=True)):
        line, colour = y + number * ENTRY, CATEGORIES[number % len(CATEGORIES)]
        page.small(x, line, text, within=page.right - x - 80)
        page.small(page.right, line, percent(share), anchor="right")
        bars.append((Box(x, line + LINE, share * (page.right - x), BAR), colour, f"{text}\n{percent(share)}"))
    page.bars(bars, gap=0)
    return y + len(result.texts) * ENTRY


def _shares(result: SegmentationResult) -> list[float]:
    """Return each text's share of the patches."""
    counts = np.bincount(result.values.ravel(), minlength=len(result.texts))
    return (counts / result.values.size).tolist()


RENDERERS = (Renderer(TextScoresResult, draw_scores), Renderer(SegmentationResult, draw_segmentation))
