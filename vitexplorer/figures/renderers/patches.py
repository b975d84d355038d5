"""From pixels to tokens: the image cut into patches, and the steps of one patch to its token."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.format import thousandths
from vitexplorer.core.text import Text
from vitexplorer.core.types import PatchesResult, TokenStep, TokenStepsResult, prefix_text, query_text
from vitexplorer.figures.boxes import Box, place
from vitexplorer.figures.captioned import caption_below
from vitexplorer.figures.colors import scale_of
from vitexplorer.figures.meanings import CHOSEN, NORM, PREFIX
from vitexplorer.figures.page import BAR_ROOM, Page
from vitexplorer.figures.renderers.pictures import enlarged
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.themes import SMALL_SIZE

GUTTER = 72  # pixels between the pictures, for the number of each row's first patch
NUMBERS = 44  # the same if the pictures are one below the other
LARGEST_HEIGHT = 560
INSIDE = 46  # least pixels of a patch that carries its own number
ENLARGED = 1200  # pixels of the longer side of the exploded picture: patches keep sharp edges when it is scaled
SIZE = Text("the image, {height} × {width} × 3", "图像，{height} × {width} × 3")
SHAPE = Text(
    "{count:patch} of {tall} × {wide} × {channels} = {numbers} numbers",
    "{count} 个图块，每个 {tall} × {wide} × {channels} = {numbers} 个数",
)
ORDER = Text(
    "patches follow one another row by row, numbered 0 to {last}: the sequence the first block reads; "
    "prefix tokens before it: {prefix}",
    "图块按行依次排列，编号 0 到 {last}：这就是第一个块读入的序列；其前的前缀标记数：{prefix}",
)
LEFT, OVER = 300, 44  # pixels for names and shapes: left of the strip, or over it in a narrow window
PICTURE, BAR, STRIP, STEP, CLOSE = 200, 160, 34, 84, 62
BESIDE = 640
"""Width in pixels from which a strip is beside its name; in a narrower window such rows are `CLOSE`"""
LEAST = 252  # a colour bar shorter than this has no room for its numbers and its title
FIRST, ROOMY = 8, 460
"""Count of numbers that are written out, and the width that it needs; a narrower strip has half as many"""
ENTRY = Text("number %{customdata[1]}", "第 %{customdata[1]} 个数")


def draw(page: Page, result: PatchesResult, y: float) -> float:
    """Draw the image with its grid and, beside it, the patches with gaps."""
    rows, cols = result.grid.rows, result.grid.cols
    y += 26
    per_row, wide = page.columns(2, GUTTER, 250)
    numbers = 0 if per_row == 2 else NUMBERS
    room = Box(page.margin + numbers, y, wide - numbers, page.high(LARGEST_HEIGHT, y + page.margin))
    whole = place(result.image, result.grid, room)
    apart = whole.cells._replace(x=whole.right + GUTTER) if per_row == 2 else whole.below(36).cells
    height, width = result.image.shape[:2]
    page.text(page.margin, y - 26, SIZE.format(height=height, width=width), muted=True)
    count, tall, broad, channels = result.values.shape
    entries = tall * broad * channels
    shape = SHAPE.format(count=count, tall=tall, wide=broad, channels=channels, numbers=entries)
    page.text(apart.x, apart.y - 26, shape, muted=True)
    page.picture(whole.image, result.image)
    _grid_lines(page, whole.cells, rows, cols)
    gap = max(2, result.grid.patch_size // 6)
    page.picture(apart, exploded(result.values, rows, cols, gap))
    _numbers(page, apart, rows, cols)
    order = ORDER.format(last=result.grid.num_patches - 1, prefix=result.grid.num_prefix_tokens)
    return caption_below(page, max(whole.bottom, apart.bottom) + 26, result, remarks=(order,))


def exploded(patches: np.ndarray, rows: int, cols: int, gap: int) -> np.ndarray:
    """Pull patches (rows * cols, height, width, 3) uint8 `gap` pixels apart: RGBA, transparent between them.

    The picture is enlarged by a whole factor. Every patch has its gap right and below, so the cells form a grid.
    """
    _, height, width, _ = patches.shape
    padded = np.zeros((rows * cols, height + gap, width + gap, 4), np.uint8)
    padded[:, :height, :width, :3] = patches
    padded[:, :height, :width, 3] = 255
    sheet = padded.reshape(rows, cols, height + gap, width + gap, 4).swapaxes(1, 2)
    sheet = sheet.reshape(rows * (height + gap), cols * (width + gap), 4)
    factor = max(1, -(-ENLARGED // max(sheet.shape[:2])))
    return sheet.repeat(factor, axis=0).repeat(factor, axis=1)


def _grid_lines(page: Page, box: Box, rows: int, cols: int) -> None:
    color = "rgba(255,255,255,0.75)"
    for y in np.linspace(box.y, box.bottom, rows + 1).tolist():
        page.line((box.x, y), (box.right, y), color)
    for x in np.linspace(box.x, box.right, cols + 1).tolist():
        page.line((x, box.y), (x, box.bottom), color)


def _numbers(page: Page, box: Box, rows: int, cols: int) -> None:
    """Draw the number of every patch, or without room only of the first in each row, left of it."""
    wide = box.width / cols
    if wide >= INSIDE:
        for patch in range(rows * cols):
            cell = box.cell(rows, cols, *divmod(patch, cols))
            plate = cell._replace(width=9 + 8 * len(str(patch)), height=18)
            page.rectangle(plate, fill="rgba(0,0,0,0.6)")
            page.small(*plate.centre, str(patch), color="#ffffff", anchor="center", vertical="middle")
        return
    every = int(-(-SMALL_SIZE * 1.3 // wide))
    for row in range(0, rows, every):
        y = box.cell(rows, cols, row, 0).centre[1]
        page.small(box.x - 8, y, str(row * cols), muted=True, anchor="right", vertical="middle")


def draw_steps(page: Page, result: TokenStepsResult, y: float) -> float:
    """Draw a row for each step: name and shape on the left, its numbers as a strip on the right; then the sequence."""
    y = _pictures(page, y, result)
    row, *vectors = [step for step in result.steps if step.numbers.size]
    _strip(page, y, 3, row, _bar(page, y - BAR + _over(page), BAR + STRIP, row.numbers, Text("normalised", "归一化值")))
    step_down = STEP + _over(page) if page.sheet.is_slide or _over(page) else CLOSE
    y += step_down
    together = np.concatenate([step.numbers for step in vectors])
    tall = max(LEAST, len(vectors) * step_down) - step_down + STRIP
    axis = _bar(page, y + _over(page), tall, together, result.unit)
    top = y
    for number, step in enumerate(vectors, start=4):
        _strip(page, y, number, step, axis)
        y += step_down
    y = max(_sequence(page, y, 4 + len(vectors), result), top + LEAST)
    return caption_below(page, y + 16, result)


def _over(page: Page) -> float:
    """Return how far the strips are below their names; 0 if beside them."""
    return 0 if page.inner >= BESIDE else OVER


def _left(page: Page) -> float:
    return page.margin + (0 if _over(page) else LEFT if page.sheet.is_slide else 240)


def _wide(page: Page) -> float:
    return page.right - _left(page) - BAR_ROOM


def _bar(page: Page, y: float, height: float, numbers: np.ndarray, title: Text) -> str:
    return page.color_scale(scale_of(numbers, None), beside=Box(_left(page), y, _wide(page), height), title=title)


def _name(page: Page, y: float, number: int, step: TokenStep, right: float = 0) -> None:
    """Draw number, name, symbols and shape of a step, `right` pixels from the margin."""
    name = Text("{number}. {name}", "{number}. {name}").format(number=number, name=step.name)
    y = page.text(page.margin + right, y, name, bold=True)
    shape = " × ".join(map(str, step.shape))
    words = shape if step.symbols == shape or _over(page) else f"{step.symbols} = {shape}"
    page.small(page.margin + right, y + 4, words, muted=True)


def _pictures(page: Page, y: float, result: TokenStepsResult) -> float:
    """Draw the image with the patch outlined, and the patch beside it."""
    image, patch = result.steps[:2]
    over, gap = _over(page), 40 if _wide(page) >= ROOMY else 16
    _name(page, y, 1, image)
    placed = place(result.image, result.grid, Box(_left(page), y + over, _wide(page) / 2 - gap, PICTURE))
    page.picture(placed.image, result.image)
    page.outline(placed.cells.cell(result.grid.rows, result.grid.cols, *result.place))
    aside = placed.right + gap
    if over:
        _name(page, y, 2, patch, aside - page.margin)
    else:
        _name(page, y + 90, 2, patch)
        page.small(page.margin, y + 136, query_text(result.place), muted=True)
    height, width = result.patch.shape[:2]
    scale = min(PICTURE / height, _wide(page) / 2 / width)
    patch_box = Box(aside, y + over, width * scale, height * scale)
    page.picture(patch_box, enlarged(result.patch / 255, PICTURE))
    return placed.bottom + 26 if over else max(y + BAR, placed.bottom, patch_box.bottom) + 26


def _strip(page: Page, y: float, number: int, step: TokenStep, axis: str) -> None:
    """Draw the numbers of a step side by side, the first of them written out below."""
    _name(page, y, number, step)
    y += _over(page)
    page.cells(Box(_left(page), y, _wide(page), STRIP), step.numbers[None], axis, where=ENTRY)
    first = ", ".join(map(thousandths, step.numbers[: FIRST if _wide(page) >= ROOMY else 4].tolist()))
    more = ", …" if step.numbers.size > FIRST else ""
    page.small(_left(page), y + STRIP + 6, first + more, muted=True)


def _sequence(page: Page, y: float, number: int, result: TokenStepsResult) -> float:
    """Draw every token of the sequence as a box: prefix tokens, patches, and the chosen one. Returns y below."""
    _name(page, y, number, result.steps[-1])
    y += _over(page)
    grid = result.grid
    prefix = [prefix_text(name).in_(page.language) for name in result.prefix_names]
    chosen = result.place[0] * grid.cols + result.place[1]
    each = _wide(page) / (len(prefix) + grid.num_patches)
    pieces = []
    for at in range(len(prefix) + grid.num_patches):
        patch = at - len(prefix)
        words = prefix[at] if patch < 0 else query_text(divmod(patch, grid.cols)).in_(page.language)
        color = PREFIX if patch < 0 else CHOSEN if patch == chosen else NORM
        pieces.append((Box(_left(page) + at * each, y, each, STRIP), color, f"{at}: {words}"))
    page.bars(pieces, gap=1 if each > 3 else 0)
    note = Text(
        "prefix tokens: {prefix}; patches: {patches}; this one has number {at}, counted from 0",
        "前缀标记 {prefix} 个；图块 {patches} 个；该标记的序号为 {at}（从 0 开始）",
    ).format(prefix=len(prefix), patches=grid.num_patches, at=len(prefix) + chosen)
    pixels = None if page.sheet.is_slide else _wide(page)
    return page.small(_left(page), y + STRIP + 6, note, muted=True, pixels=pixels)


RENDERERS = (Renderer(PatchesResult, draw), Renderer(TokenStepsResult, draw_steps))
