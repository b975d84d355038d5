"""The whole network: image, tokens after every block with the heads of the followed one above, and the answer.

Columns run from left to right, and on from the left of the next row. Lines end at the followed token; those of a row's
first column come in from the left, at the height of the token that is read.
"""

from __future__ import annotations

import colorsys
import math
from dataclasses import dataclass

import numpy as np
from PIL.ImageColor import getrgb

from vitexplorer.core.format import hundredths, percent
from vitexplorer.core.network_result import NetworkPairResult, NetworkResult
from vitexplorer.core.text import Text, present, same
from vitexplorer.core.types import PatchGrid, Prediction
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.caption import class_name
from vitexplorer.figures.captioned import caption_below
from vitexplorer.figures.colors import lookup_table
from vitexplorer.figures.meanings import ATTENTION, MLP
from vitexplorer.figures.page import Page
from vitexplorer.figures.renderers.pictures import enlarged
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.themes import SMALL_SIZE

TITLE, PASS_GAP = 26, 24
"""Pixels for the name over a pass, and under a pass"""
GAP, BETWEEN = 26, 30
"""Pixels between columns, and between rows of columns"""
HEADS, PREFIX, NAME, LINE = 62, 24, 24, 19
"""Pixels for the heads over a grid, for the prefix tokens, for the name under it, and for each line of numbers"""
NARROWEST, WIDEST = 92, 170
NARROWEST_OF_TWO = 60
ANSWER_WIDTH = 118
"""Least width of the answer's column: a class and its probability"""
"""Least width of a column where two passes stand under each other, so that each is a row"""
FIRST_HUE = 140 / 360
"""Hue of head 0, as `hueOf` of the page"""
DOT = 6
LEFT_OUT = 0.62
"""Grey of a hidden patch, 0-1"""
FINEST = 4
"""Smallest patch in pixels whose edges are drawn"""
FAINTEST = 0.004
"""Smallest weight that is drawn"""
IMAGE, TOKENS, ANSWER = Text("image", "图像"), Text("tokens", "标记"), Text("answer", "答案")
SIMILARITY = Text("similarity", "相似度")
SIMILAR = Text(
    "Similarity: cosine of each patch to the class token, or to the mean over patches, after the last block; its "
    "smallest is black, its largest the brightest.",
    "相似度：最后一块之后，各图块与类别标记（没有时为图块平均）的余弦；最小为黑，最大最亮。",
)
BLOCK = Text("block {block}", "块 {block}")
DRAWN = Text(
    "Lines end at the followed token ({query}): the straight one is what it keeps; a hue is a head, and its lines come "
    "from what it reads. They hold {share} of the attention on average.",
    "连线通向追踪的标记（{query}）：直线是它保留的内容；每种颜色是一个头，其连线从它读取之处引来，"
    "平均占注意力的 {share}。",
)
ADDS = Text(
    "Bars: what attention (blue) and MLP (brown) add to the logit.", "条形：注意力（蓝）与 MLP（棕）为 logit 增加的量。"
)


Token = str | tuple[int, int]
"""Name of a prefix token, "mean", or row and column of a patch"""


@dataclass(frozen=True)
class Columns:
    """Boxes of the grids: the image, one for each row of colours, and the answer."""

    boxes: list[Box]
    left: float
    """x where the lines of a row's first column come in"""
    bottom: float

    def place(self, column: int, grid: PatchGrid, token: Token, prefix_names: tuple[str, ...]) -> tuple[float, float]:
        """Return x, y of a token in a column; the mean over patches stands over the grid like a prefix token."""
        box = self.boxes[column]
        if isinstance(token, str):
            names = [*prefix_names] if token in prefix_names else [token]
            step = min(3 * DOT, box.width / len(names))
            return box.centre[0] + (names.index(token) - (len(names) - 1) / 2) * step, box.y - PREFIX / 2
        return box.cell(grid.rows, grid.cols, *token).centre


def laid_out(
    page: Page, y: float, high: float, count: int, shape: tuple[int, int], lines: int, narrowest: float
) -> Columns:
    """Lay out `count` columns of grids of `shape` (rows, cols) with `lines` of numbers under each, from `y` down."""
    around = HEADS + PREFIX + NAME + LINE * lines + BETWEEN
    tall = shape[0] / shape[1]
    fits = []
    for rows in range(1, count + 1):
        per_row = math.ceil(count / rows)
        beside_answer = (page.inner - ANSWER_WIDTH) / max(1, per_row - 1) - GAP
        wide = min(page.inner / per_row - GAP, beside_answer, WIDEST, (high / rows - around) / tall)
        fits.append((min(wide, narrowest), rows == 1 and wide >= narrowest, wide, per_row))
        if math.isinf(high) and wide >= narrowest:
            break
    _, _, wide, per_row = max(fits)
    wide = max(wide, min(narrowest, page.inner / 2 - GAP))
    per_row = min(per_row, max(1, int((page.inner + GAP) // (wide + GAP))))
    step = (page.inner - max(wide, ANSWER_WIDTH)) / (per_row - 1) if per_row > 1 else 0
    step = min(step, wide + 2 * GAP)
    step_down = around + wide * tall
    boxes = [
        Box(page.margin + i % per_row * step, y + i // per_row * step_down + HEADS + PREFIX, wide, wide * tall)
        for i in range(count)
    ]
    return Columns(boxes, page.margin, boxes[-1].bottom + NAME + LINE * lines)


def head_colors(count: int, is_dark: bool) -> list[str]:
    """Return a hue for each head, of one lightness; the same hues as on the page."""
    hues = [
        colorsys.hls_to_rgb((head / count + FIRST_HUE) % 1, 0.66 if is_dark else 0.42, 0.8) for head in range(count)
    ]
    return ["#" + "".join(f"{round(255 * part):02x}" for part in hue) for hue in hues]


def draw(page: Page, result: NetworkResult, y: float, *, reached: int | None = None) -> float:
    """Draw the pass.

    Option: reached, how many blocks have run; None for all, then the answer is drawn too.
    """
    bottom = draw_pass(page, result, y, page.high(math.inf, y + page.margin), reached)
    return caption_below(page, bottom + 20, result, None, remarks(result))


def draw_pair(page: Page, result: NetworkPairResult, y: float) -> float:
    """Draw both passes, one under the other, each under its name."""
    for name, each in zip(result.names, result.passes, strict=True):
        page.text(page.margin, y, name, bold=True)
        y = draw_pass(page, each, y + TITLE, math.inf, narrowest=NARROWEST_OF_TWO) + PASS_GAP
    both = [remark for each in result.passes for remark in remarks(each)]
    return caption_below(page, y, result, None, tuple(dict.fromkeys(both)))


def draw_pass(
    page: Page, result: NetworkResult, y: float, high: float, reached: int | None = None, narrowest: float = NARROWEST
) -> float:
    """Draw one pass as far as `reached` within a height in pixels, if that can be. Returns y below it."""
    depth = len(result.links)
    is_over = reached is None
    reached = depth if reached is None else reached
    first = result.grids[0]
    has_adds, has_lens = result.attention_adds is not None, result.lens is not None
    columns = laid_out(page, y, high, depth + 3, (first.rows, first.cols), has_lens + 2 * has_adds, narrowest)
    image, *grids, answer = columns.boxes
    page.picture(image, _seen(result))
    _cut(page, image, first)
    _name(page, image, IMAGE)
    for row, box in enumerate(grids[: reached + 1]):
        _tokens(page, result, row, box)
    for block in range(reached):
        box = grids[block + 1]
        _links(page, result, block, columns)
        _heads(page, result.heads[block], box)
        _numbers(page, result, block, box)
    for row, box in enumerate(grids[: reached + 1]):
        _followed(page, result, row, box)
    if is_over:
        _answer(page, result, answer)
    return columns.bottom


def remarks(result: NetworkResult) -> tuple[Text, ...]:
    """Say what lines and bars mean, and the share of the attention that the lines hold."""
    share = 1 - float(np.nanmean(result.rest)) if np.isfinite(result.rest).any() else 0.0
    drawn = DRAWN.format(query=result.settings_said["query"][1], share=percent(share))
    has_adds = result.attention_adds is not None
    return present(drawn, ADDS if has_adds else None, None if result.similarity is None else SIMILAR)


def _name(page: Page, box: Box, words: Text) -> None:
    page.text(box.centre[0], box.bottom + 4, words, bold=True, anchor="center")


def _cut(page: Page, box: Box, grid: PatchGrid) -> None:
    if box.width / grid.cols < FINEST:
        return
    for col in range(1, grid.cols):
        x = box.x + box.width * col / grid.cols
        page.line((x, box.y), (x, box.bottom), "rgba(255,255,255,0.55)")
    for row in range(1, grid.rows):
        y = box.y + box.height * row / grid.rows
        page.line((box.x, y), (box.right, y), "rgba(255,255,255,0.55)")


def _seen(result: NetworkResult) -> np.ndarray:
    """Return the image, its hidden patches grey."""
    grid = result.grids[0]
    cells = result.hidden.reshape(grid.rows, grid.cols).repeat(grid.patch_size, 0).repeat(grid.patch_size, 1)
    image = result.image.copy()
    image[: len(cells), : cells.shape[1]][cells] = round(255 * LEFT_OUT)
    return image


def _tokens(page: Page, result: NetworkResult, row: int, box: Box) -> None:
    grid = result.grids[row]
    colours = result.values[row, : grid.num_patches].reshape(grid.rows, grid.cols, 3)
    page.picture(box, enlarged(np.nan_to_num(colours, nan=LEFT_OUT), 240))
    _name(page, box, TOKENS if row == 0 else BLOCK.format(block=row - 1))


def _links(page: Page, result: NetworkResult, block: int, columns: Columns) -> None:
    before, after = 1 + block, 2 + block
    end = columns.place(after, result.grids[block + 1], result.queries[block], result.prefix_names)
    is_wrapped = columns.boxes[before].y < columns.boxes[after].y
    shift = columns.boxes[after].y - columns.boxes[before].y if is_wrapped else 0.0

    def start(token: Token, grid: PatchGrid) -> tuple[float, float]:
        x, y = columns.place(before, grid, token, result.prefix_names)
        return (columns.left, y + shift) if is_wrapped else (x, y)

    keeps = start(result.queries[block], result.grids[block])
    page.path(_curve(keeps, end), _faded(page.theme.text, 0.55), 2)
    of_heads = head_colors(len(result.heads[block]), page.theme.name == "dark")
    for color, tokens, weights in zip(of_heads, *result.links[block], strict=True):
        for token, weight in zip(tokens.tolist(), weights.tolist(), strict=True):
            if weight >= FAINTEST:
                curve = _curve(start(_token(result, block, token), result.key_grids[block]), end)
                page.path(curve, _faded(color, 0.25 + min(0.6, 3 * weight)), min(7.0, 0.7 + 14 * weight))


def _curve(start: tuple[float, float], end: tuple[float, float]) -> str:
    """Return the path of a curve that leaves and arrives horizontally, its y upwards."""
    (x0, y0), (x1, y1) = start, end
    bend = 0.45 * (x1 - x0)
    return f"M{x0:.1f},{-y0:.1f} C{x0 + bend:.1f},{-y0:.1f} {x1 - bend:.1f},{-y1:.1f} {x1:.1f},{-y1:.1f}"


def _faded(color: str, opacity: float) -> str:
    """Return a colour with an opacity, 0-1."""
    return f"rgba({','.join(map(str, getrgb(color)))},{opacity:.3f})"


def _token(result: NetworkResult, block: int, token: int) -> Token:
    prefix = len(result.prefix_names)
    return result.prefix_names[token] if token < prefix else divmod(token - prefix, result.key_grids[block].cols)


def _heads(page: Page, maps: np.ndarray, box: Box) -> None:
    """Draw the maps of all heads in one picture, each in inferno from 0 to its own largest."""
    heads, rows, cols = maps.shape
    per_row = math.ceil(heads / max(1, round(math.sqrt(heads * (HEADS - 12) / (box.width)))))
    lines = math.ceil(heads / per_row)
    sheet = np.zeros((lines * (rows + 1) - 1, per_row * (cols + 1) - 1, 4), np.uint8)
    table = lookup_table("inferno")
    for head, values in enumerate(maps):
        shares = values / max(float(values.max()), np.finfo(float).tiny)
        top, left = head // per_row * (rows + 1), head % per_row * (cols + 1)
        cell = sheet[top : top + rows, left : left + cols]
        cell[..., :3] = table[(shares.clip(0, 1) * 255).round().astype(int)]
        cell[..., 3] = 255
    factor = min(box.width / sheet.shape[1], (HEADS - 12) / sheet.shape[0])
    wide, high = factor * sheet.shape[1], factor * sheet.shape[0]
    place = Box(box.centre[0] - wide / 2, box.y - PREFIX - 6 - high, wide, high)
    page.picture(place, sheet.repeat(4, 0).repeat(4, 1))


def _numbers(page: Page, result: NetworkResult, block: int, box: Box) -> None:
    y = box.bottom + NAME + 2
    if result.lens is not None:
        answer = result.lens[block]
        if answer is not None:
            name = result.class_names[answer.index] if result.class_names else same("")
            words = class_name(Prediction(answer.index, name, 0.0, answer.value))
            value = percent(answer.value) if len(result.top) > 1 else f"{answer.value:.3g}"
            is_last = bool(result.top) and answer.index == result.top[0].index
            text = Text("{name} {value}", "{name} {value}").format(name=words, value=value)
            page.small(box.centre[0], y, text, within=box.width + GAP - 6, anchor="center", muted=not is_last)
        y += LINE
    if result.attention_adds is None:
        return
    most = max(float(np.abs(result.attention_adds).max()), float(np.abs(result.mlp_adds).max()), 1e-9)
    room = box.width / 2 - 4
    for color, adds in ((ATTENTION, result.attention_adds), (MLP, result.mlp_adds)):
        value = float(adds[block])
        long = room * abs(value) / most
        page.rectangle(Box(box.centre[0] - (long if value < 0 else 0), y + 3, max(1.0, long), 12), fill=color)
        is_left = value < 0
        beside = box.centre[0] + (3 if is_left else -3)
        page.small(beside, y + 9, hundredths(value), anchor="left" if is_left else "right", vertical="middle")
        y += LINE


def _followed(page: Page, result: NetworkResult, row: int, box: Box) -> None:
    """Mark the followed token, and draw the prefix tokens over the grid."""
    query = result.queries[max(0, row - 1)] if row else result.queries[0]
    columns, grid = Columns([box], 0, 0), result.grids[row]
    over = ["mean"] if query == "mean" else [*result.prefix_names]
    for name in over:
        x, y = columns.place(0, grid, name, result.prefix_names)
        fill = page.theme.text if name == query else page.theme.line
        page.rectangle(Box(x - DOT, y - DOT, 2 * DOT, 2 * DOT), fill=fill, round_=True)
    if isinstance(query, tuple):
        page.outline(box.cell(grid.rows, grid.cols, *query))


def _answer(page: Page, result: NetworkResult, box: Box) -> None:
    if result.top:
        box = box._replace(width=max(box.width, ANSWER_WIDTH))
    _name(page, box, ANSWER if result.top else SIMILARITY)
    step = box.height / max(5, len(result.top))
    for at, answer in enumerate(result.top):
        y = box.y + at * step
        text = Text("{name} {value}", "{name} {value}").format(name=class_name(answer), value=answer.display_value)
        page.small(box.x, y, text, within=box.width)
        if isinstance(answer, Prediction) and step >= SMALL_SIZE + 8:
            page.meter(Box(box.x, y + SMALL_SIZE + 4, box.width, 4), answer.probability)
    if result.similarity is not None:
        grid = result.grids[-1]
        similar = result.similarity[-1, : grid.num_patches].reshape(grid.rows, grid.cols)
        low, high = np.nanmin(similar), np.nanmax(similar)
        levels = np.nan_to_num((similar - low) / max(float(high - low), 1e-9) * 255).round().astype(int)
        colours = np.where(np.isnan(similar)[..., None], 255 * LEFT_OUT, lookup_table("inferno")[levels])
        page.picture(box, colours.astype(np.uint8).repeat(8, 0).repeat(8, 1))


RENDERERS = (Renderer(NetworkResult, draw), Renderer(NetworkPairResult, draw_pair))
