"""All weights of one head in sequence order, and beside them one query's view of the image.

Early rows of a masked head have few keys and therefore large weights, so each row is painted relative to its own
largest. Hidden weights stay blank.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from vitexplorer.core.format import percent
from vitexplorer.core.text import Text
from vitexplorer.core.types import SequenceResult, prefix_text
from vitexplorer.figures.boxes import Box, place
from vitexplorer.figures.captioned import caption_below
from vitexplorer.figures.chart import ticks
from vitexplorer.figures.colors import directed, scale_of
from vitexplorer.figures.page import BAR_ROOM, Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.scaling import painted_each

LEFT, ABOVE, BELOW, GAP = 40, 26, 56, 28
MATRIX = 0.58
"""Share of the width of both pictures that the matrix takes"""
NARROW = 400
"""Width in pixels below which the image goes under the matrix"""
MOST = 200
"""Most cells along one side; in a longer sequence each stands for several tokens"""
HIDDEN_GREY, COVER = 128, 0.8
EACH = Text("each query's weights divided by their largest", "每个查询的权重分别除以其最大值")
SHARE = Text("share of the query's largest weight", "占该查询最大权重的比例")
WHERE = Text("query %{customdata[0]}, key %{customdata[1]}", "查询 %{customdata[0]}，键 %{customdata[1]}")
SEES = Text("sees {seen} of {tokens} tokens", "看到 {tokens} 个标记中的 {seen} 个")
QUERY = Text("query, by its place in the sequence", "查询（按序列中的位置）")
FUTURE = Text("the future: 0", "之后的：0")
BLANK = Text(
    "Blank: keys that come after their query; their weights are exactly 0.", "空白处是在查询之后的键，权重恰为 0。"
)
LARGEST = Text("A cell is the largest of {every} × {every} weights.", "每格为 {every} × {every} 个权重中的最大值。")


def painted_rows(result: SequenceResult, every: int = 1) -> Float[np.ndarray, "queries keys"]:
    """Return each row as a share of its largest, NaN for hidden keys; the largest of `every` x `every` weights."""
    rows = result.values.astype(float)
    rows /= rows.max(1, keepdims=True)  # softmax weights are never 0
    starts = np.arange(0, len(rows), every)
    largest = np.maximum.reduceat(np.maximum.reduceat(rows, starts, axis=0), starts, axis=1)
    if result.masked:
        largest[starts >= np.minimum(starts + every, len(rows))[:, None]] = np.nan
    return largest


def draw(page: Page, result: SequenceResult, y: float, *, colormap: str | None = None) -> float:
    """Draw the matrix and the image. Option: colormap, None takes inferno."""
    tokens = len(result.values)
    every = -(-tokens // MOST)
    rows, scale = painted_rows(result, every), scale_of(np.ones(1), colormap)
    y += ABOVE
    room = page.inner - LEFT - BAR_ROOM - GAP
    beside = room >= NARROW
    high = page.high(room, y + BELOW + page.margin)
    side = min(high, MATRIX * room if beside else room + GAP)
    box = Box(page.margin + LEFT, y, side, side)
    axis = page.color_scale(scale, beside=box, title=SHARE)
    places = every * np.stack(np.indices(rows.shape), axis=-1)
    page.cells(box, rows, axis, where=WHERE, places=places.astype(np.int16))
    if result.masked and tokens > 1:
        page.text(box.x + 0.68 * side, y + 0.3 * side, FUTURE, muted=True, anchor="center")
    page.outline(box.part(len(rows), len(rows), (result.at // every, 0, 1, len(rows))))
    _axes(page, box, tokens)
    if beside:
        bottom = max(box.bottom + BELOW, _seen(page, box.right + BAR_ROOM + GAP, y, room - side, result, axis))
    else:
        bottom = _seen(page, page.margin + LEFT, box.bottom + BELOW + ABOVE, side, result, axis)
    remarks = (*((BLANK,) if result.masked else ()), *((LARGEST.format(every=every),) if every > 1 else ()))
    return caption_below(page, bottom + 12, result, directed(EACH, scale.colormap), remarks)


def _axes(page: Page, box: Box, tokens: int) -> None:
    page.small(box.x, box.y - ABOVE, QUERY, muted=True)
    for place_ in map(int, ticks(0, tokens - 1, 6)):
        along = (place_ + 0.5) / tokens * box.width
        page.small(box.x - 8, box.y + along, str(place_), anchor="right", vertical="middle")
        page.small(box.x + along, box.bottom + 6, str(place_), anchor="center")
    page.small(box.centre[0], box.bottom + 28, Text("key", "键"), muted=True, anchor="center")


def _seen(page: Page, left: float, y: float, pixels: float, result: SequenceResult, axis: str) -> float:
    """Draw the query's row on the image, later patches covered, and the prefix tokens' shares. Returns y below."""
    grid, prefix = result.grid, result.grid.num_prefix_tokens
    row = painted_each(result.values[[result.at]]).values[0, prefix:]
    hidden = np.arange(len(row)) + prefix > result.at if result.masked else np.zeros(len(row), bool)
    seen = (result.at if result.masked else len(result.values) - 1) + 1
    words = SEES.format(seen=seen, tokens=len(result.values))
    page.small(left, y - ABOVE, words, muted=True)
    at = place(result.image, grid, Box(left, y, pixels, pixels))
    page.picture(at.image, covered(result.image, hidden.reshape(grid.rows, grid.cols), grid.patch_size))
    weights = np.where(hidden, np.nan, row).reshape(grid.rows, grid.cols)
    page.cells(at.cells, weights, axis, opacity=0.85)
    if isinstance(result.query, tuple):
        page.outline(at.cells.cell(grid.rows, grid.cols, *result.query))
    y = at.bottom + 8
    for name, weight in zip(result.sequence[:prefix], result.values[result.at, :prefix].tolist(), strict=True):
        page.small(left, y, prefix_text(name))
        y = page.small(left + pixels, y, percent(weight), anchor="right")
    return y


def covered(image: np.ndarray, hidden: np.ndarray, side: int) -> np.ndarray:
    """Return uint8 (height, width, 3): the image with hidden (rows, cols) patches of `side` pixels under grey."""
    height, width, _ = image.shape
    over = np.zeros((height, width, 1))
    is_hidden = hidden.repeat(side, 0).repeat(side, 1)[:height, :width, None]
    over[: is_hidden.shape[0], : is_hidden.shape[1]] = COVER * is_hidden
    return (image * (1 - over) + HIDDEN_GREY * over).round().astype(np.uint8)


RENDERERS = (Renderer(SequenceResult, draw),)
