"""One head: all its weights in the order of the sequence, and one query step by step."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from vitexplorer.core.format import percent, thousandths
from vitexplorer.core.text import Text, present, same
from vitexplorer.core.types import DotProductResult, SequenceResult, prefix_text
from vitexplorer.figures.boxes import Box, place
from vitexplorer.figures.captioned import caption_below
from vitexplorer.figures.chart import ABOVE, BELOW, LEFT, Chart, span, ticks
from vitexplorer.figures.colors import directed, grey_of, scale_of
from vitexplorer.figures.page import BAR_ROOM, Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.scaling import painted_each

NUMBERS, OVER, UNDER, GAP = 40, 26, 56, 28
"""Pixels left of the matrix, over it, under it, and between it and the image"""
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
FUTURE = Text("the future: 0", "之后的键：0")
BLANK = Text(
    "Blank: keys that come after their query; their weights are exactly 0.", "空白处是在查询之后的键，权重恰为 0。"
)
LARGEST = Text("A cell is the largest of {every} × {every} weights.", "每格为 {every} × {every} 个权重中的最大值。")
STRONGEST, STEP, CLOSE, TABLE, BETWEEN, LEAST = 10, 30, 26, 620, 50, 220
KEY, LEAST_NAMED = 20, 0.001
"""Pixels of a key below the image, and least weight of one that is named"""
LABEL = 12
"""Pixels right of an axis, for half of its last number"""
COLUMNS = (Text("q·k", "q·k"), Text("× scale", "× 缩放"), Text("+ bias", "+ 偏置"), Text("softmax", "softmax"))
RIGHT = (250, 345, 440, 530)
PAIRS = Text("pairs", "查询-键对的数目")
BEFORE = Text("q·k of all pairs: variance {variance:.4g}", "所有查询-键对的 q·k：方差 {variance:.4g}")
AFTER = Text("scaled, × {scale:.4g}: variance {variance:.4g}", "缩放后，× {scale:.4g}：方差 {variance:.4g}")
SCALED = Text("q·k × scale", "q·k × 缩放")
REST = Text("all other keys ({count})", "其余键（{count} 个）")


def painted_rows(result: SequenceResult, every: int = 1) -> Float[np.ndarray, "queries keys"]:
    """Return each row as a share of its largest, NaN for hidden keys; the largest of `every` x `every` weights."""
    rows = result.values.astype(float)
    rows /= rows.max(1, keepdims=True)  # softmax weights are never 0
    starts = np.arange(0, len(rows), every)
    largest = np.maximum.reduceat(np.maximum.reduceat(rows, starts, axis=0), starts, axis=1)
    if result.masked:
        largest[starts >= np.minimum(starts + every, len(rows))[:, None]] = np.nan
    return largest


def draw_sequence(page: Page, result: SequenceResult, y: float, *, colormap: str | None = None) -> float:
    """Draw the matrix, and beside it one query's view of the image. Option: colormap, None takes inferno.

    Early rows of a masked head have few keys and therefore large weights, so each row is painted relative to its own
    largest. Hidden weights stay blank.
    """
    tokens = len(result.values)
    every = -(-tokens // MOST)
    rows, scale = painted_rows(result, every), scale_of(np.ones(1), colormap)
    y += OVER
    room = page.inner - NUMBERS - BAR_ROOM - GAP
    beside = room >= NARROW
    high = page.high(room, y + UNDER + page.margin)
    side = min(high, max(MATRIX * room, room - LEAST) if beside else room + GAP)
    box = Box(page.margin + NUMBERS, y, side, side)
    axis = page.color_scale(scale, beside=box, title=SHARE)
    places = every * np.stack(np.indices(rows.shape), axis=-1)
    page.cells(box, rows, axis, where=WHERE, places=places.astype(np.int16))
    if result.masked and tokens > 1:
        page.text(box.x + 0.68 * side, y + 0.3 * side, FUTURE, muted=True, anchor="center")
    page.outline(box.part(len(rows), len(rows), (result.at // every, 0, 1, len(rows))))
    _axes(page, box, tokens)
    if beside:
        bottom = max(
            box.bottom + UNDER, _seen(page, Box(box.right + BAR_ROOM + GAP, y, room - side, side), result, axis)
        )
    else:
        bottom = _seen(page, Box(page.margin + NUMBERS, box.bottom + UNDER + OVER, side, side), result, axis)
    remarks = present(BLANK if result.masked else None, LARGEST.format(every=every) if every > 1 else None)
    return caption_below(page, bottom + 12, result, directed(EACH, scale.colormap), remarks)


def _axes(page: Page, box: Box, tokens: int) -> None:
    page.small(box.x, box.y - OVER, QUERY, muted=True)
    for place_ in map(int, ticks(0, tokens - 1, 6)):
        along = (place_ + 0.5) / tokens * box.width
        page.small(box.x - 8, box.y + along, str(place_), anchor="right", vertical="middle")
        page.small(box.x + along, box.bottom + 6, str(place_), anchor="center")
    page.small(box.centre[0], box.bottom + 28, Text("key", "键"), muted=True, anchor="center")


def _seen(page: Page, box: Box, result: SequenceResult, axis: str) -> float:
    """Draw the query's row on the image, later patches covered, and the shares of prefix tokens. Returns y below.

    What is left of the box has the strongest patches.
    """
    left, y, pixels, _ = box
    grid, prefix = result.grid, result.grid.num_prefix_tokens
    row = painted_each(result.values[[result.at]]).values[0, prefix:]
    hidden = np.arange(len(row)) + prefix > result.at if result.masked else np.zeros(len(row), bool)
    seen = (result.at if result.masked else len(result.values) - 1) + 1
    words = SEES.format(seen=seen, tokens=len(result.values))
    page.small(left, y - OVER, words, muted=True)
    at = place(result.image, grid, Box(left, y, pixels, pixels))
    page.picture(at.image, covered(grey_of(result.image), hidden.reshape(grid.rows, grid.cols), grid.patch_size))
    weights = np.where(hidden, np.nan, row).reshape(grid.rows, grid.cols)
    page.cells(at.cells, weights, axis, opacity=0.85)
    if isinstance(result.query, tuple):
        page.outline(at.cells.cell(grid.rows, grid.cols, *result.query))
    y = at.bottom + 8
    weights = result.values[result.at]
    strongest = prefix + np.argsort(-weights[prefix:], kind="stable")
    room = max(0, int((box.bottom - y) / KEY) - prefix)
    for key in (*range(prefix), *(key for key in strongest.tolist()[:room] if weights[key] >= LEAST_NAMED)):
        token = result.sequence[key]
        page.small(left, y, prefix_text(token) if isinstance(token, str) else key_text(",".join(map(str, token))))
        y = page.small(left + pixels, y, percent(float(weights[key])), anchor="right")
    return y


def covered(image: np.ndarray, hidden: np.ndarray, side: int) -> np.ndarray:
    """Return uint8 (height, width, 3): the image with hidden (rows, cols) patches of `side` pixels under grey."""
    height, width, _ = image.shape
    over = np.zeros((height, width, 1))
    is_hidden = hidden.repeat(side, 0).repeat(side, 1)[:height, :width, None]
    over[: is_hidden.shape[0], : is_hidden.shape[1]] = COVER * is_hidden
    return (image * (1 - over) + HIDDEN_GREY * over).round().astype(np.uint8)


def key_text(key: str) -> Text:
    """Return a key in words: a patch's row and column, a prefix token, or padding."""
    if "," in key:
        row, col = key.split(",")
        return Text("row {row}, col {col}", "第 {row} 行第 {col} 列").format(row=row, col=col)
    return Text("padding", "窗口填充") if key == "padding" else prefix_text(key)


def draw_dot_product(page: Page, result: DotProductResult, y: float) -> float:
    """Draw a query's strongest keys on the left, and on the right or below what the scaling does to all scores."""
    beside = page.inner >= TABLE + BETWEEN + LEAST
    bottom = _table(page, y, result, 1.0 if beside else page.inner / TABLE)
    if beside:
        room = Box(page.margin + TABLE + BETWEEN, y, page.inner - TABLE - BETWEEN, 0)
        bottom = max(bottom, _histograms(page, room, result))
    else:
        bottom = _histograms(page, Box(page.margin, bottom + 16, page.inner, 0), result)
    return caption_below(page, bottom + 20, result)


def _table(page: Page, y: float, result: DotProductResult, factor: float) -> float:
    """Draw the strongest keys in a table of `factor` times its usual width. Returns y below it."""
    step = STEP if page.sheet.is_slide else CLOSE
    bar = Box(page.margin + 540 * factor, y, 80 * factor, 13)
    page.text(page.margin, y, Text("strongest keys", "最强的键"), bold=True)
    columns = range(len(COLUMNS)) if factor >= 0.9 else (1, 3)
    for at in columns:
        page.text(page.margin + RIGHT[at] * factor, y, COLUMNS[at], bold=True, anchor="right")
    y += 30
    order = np.argsort(-result.values, kind="stable")[:STRONGEST].tolist()
    largest = float(result.values.max(initial=0)) or 1.0
    for key in order:
        page.line((page.margin, y - 5), (page.margin + TABLE * factor, y - 5))
        page.text(page.margin, y, key_text(result.keys[key]))
        numbers = (result.scores[key], result.scaled[key], result.bias[key])
        for at in columns[:-1]:
            page.text(page.margin + RIGHT[at] * factor, y, thousandths(numbers[at]), anchor="right")
        page.text(page.margin + RIGHT[3] * factor, y, percent(result.values[key]), anchor="right")
        length = bar.width * float(result.values[key]) / largest
        page.rectangle(bar._replace(y=y + 3), fill=page.theme.line)
        page.rectangle(bar._replace(y=y + 3, width=length), fill=page.theme.bar)
        y += step
    page.line((page.margin, y - 5), (page.margin + TABLE * factor, y - 5))
    others = len(result.values) - len(order)
    if others:
        page.text(page.margin, y, REST.format(count=others), muted=True)
        rest = float(result.values.sum() - result.values[order].sum())
        page.text(page.margin + RIGHT[3] * factor, y, percent(max(rest, 0.0)), muted=True, anchor="right")
        y += step
    return y


def _histograms(page: Page, room: Box, result: DotProductResult) -> float:
    """Draw both on one range of scores, so that the second shows how much the scaling squeezes the first.

    Side by side if `room` is wide enough, otherwise one under the other. Returns y below them.
    """
    beside = room.width >= 2 * (LEFT + LEAST) + BETWEEN
    wide = (room.width - BETWEEN) / 2 if beside else room.width
    left, y = room.x, room.y
    edges = result.bin_edges
    across = span(np.concatenate([edges, edges * result.scale]))
    panels = (
        (BEFORE.format(variance=result.score_variance), edges),
        (AFTER.format(scale=result.scale, variance=result.score_variance * result.scale**2), edges * result.scale),
    )
    for title, at in panels:
        page.text(left, y, title, bold=True)
        around = 26 + ABOVE + BELOW + 20 + page.margin
        high = max(110, page.high(110, y + around, 0)) if beside else 110
        box = Box(left + LEFT, y + 26 + ABOVE, wide - LEFT - LABEL, high)
        chart = Chart(box, across, span(result.all_scores))
        chart.frame(page, same("q·k") if at is edges else SCALED, PAIRS)
        pieces = []
        for count, low, high in zip(result.all_scores.tolist(), at[:-1].tolist(), at[1:].tolist(), strict=True):
            (x0, top), (x1, floor) = chart.at(low, count), chart.at(high, 0)
            pieces.append((Box(x0, top, x1 - x0, floor - top), page.theme.bar, f"{low:.3g} … {high:.3g}\n{count:,}"))
        page.bars(pieces, gap=0)
        below = box.bottom + BELOW
        left, y = (left + wide + BETWEEN, y) if beside else (left, below)
    return below


RENDERERS = (Renderer(SequenceResult, draw_sequence), Renderer(DotProductResult, draw_dot_product))
