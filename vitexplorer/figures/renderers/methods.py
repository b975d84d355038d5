"""Maps of several methods over one picture: one size and one colour map, each as a share of its own largest number.

Where a few patches of a signed map lie far beyond all others, its share is of the end of its scale, see `scale_end`.

Under each map are its range and, once measured, a bar from the area under its deletion curve to the area under its
insertion curve; longer is better. All bars use one line from 0 to 1; for a model with one output the line covers all
areas and 0. In a window a click on a map enlarges it, and a method that was not computed has a button.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from vitexplorer.core.format import measured, thousandths
from vitexplorer.core.text import Text, same
from vitexplorer.core.types import MethodsResult, Output
from vitexplorer.figures.beyond import SHORT, note_beyond
from vitexplorer.figures.boxes import Box, Place, place
from vitexplorer.figures.caption import class_name
from vitexplorer.figures.captioned import caption_below
from vitexplorer.figures.colors import Scale, directed, scale_of
from vitexplorer.figures.page import BAR_ROOM, Page
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.scaling import PERCENTILE, RANGE, is_signed, painted_each, remark, scale_end
from vitexplorer.figures.themes import TEXT_SIZE
from vitexplorer.figures.typesetting import without_brackets, wrap

GAP, LINE = 14, 20
NARROWEST = 130
BAR, BUTTON, LEAST = 8, 44, 200
"""Heights in pixels of a method's bar and of a button, and least width of a button"""
EACH = Text(
    "each map divided by its own largest magnitude: its range stands under it",
    "每幅图除以各自的最大绝对值，其取值范围写在图下方",
)
SHARE = Text("share of the map's largest magnitude", "占该图最大绝对值的比例")
EACH_END = Text(
    "each map divided by its largest magnitude, or by the {percentile}th percentile of its magnitudes where patches "
    "lie beyond the scale: its range stands under it",
    "每幅图除以各自的最大绝对值，有图块超出标度时则除以绝对值的第 {percentile} 百分位数，其取值范围写在图下方",
)
SHARE_OF_END = Text("share of the end of the map's scale", "占该图标度末端的比例")
AREAS = Text(
    "Bars on a line from {low} to {high}: area under the deletion curve ↓ (lower is better) to that under the "
    "insertion curve ↑ (higher is better). The longer, the better; grey: no better than random order.",
    "横线的范围为 {low} 到 {high}；条形从删除曲线下面积 ↓（越低越好）画到插入曲线下面积 ↑（越高越好），越长越好；"
    "灰色：不优于随机顺序。",
)
BEST, WORST = Text("best", "最好"), Text("worst", "最差")
MEASURE = Text(
    "Measure how faithful each one is ({passes} images through the model)",
    "测量每种方法的忠实度（模型需处理 {passes} 幅图像）",
)
HINT = Text("deletion and insertion, for every map here", "对此处每幅图计算删除与插入曲线")
COMPUTE = Text("Compute {title}", "计算{title}")
MANY = Text("{title}: takes many passes through the model", "{title}：需要多次运行模型")
IMAGE = Text("image", "图像")
WHERE = Text(
    "row %{customdata[0]}, column %{customdata[1]}: %{customdata[2]:.4g}<br>%{z:.3f}",
    "第 %{customdata[0]} 行第 %{customdata[1]} 列：%{customdata[2]:.4g}<br>%{z:.3f}",
)


def draw(page: Page, result: MethodsResult, y: float, *, colormap: str | None = None, opacity: float = 0.85) -> float:
    """Draw the maps.

    Options: colormap, None takes inferno or, where a map is signed, ice_inferno; opacity of the cells over the image,
    0-1.
    """
    shares = [share_of_scale(result.own_values(number)) for number in range(len(result.methods))]
    scale = scale_of_shares(shares, colormap)
    waiting = () if page.sheet.is_slide else result.others  # those that a click computes
    titles = [without_brackets(title) for title in (IMAGE, *result.titles)]
    narrow = page.inner < 4 * NARROWEST
    places, bottom = _places(page, result, y, titles, narrow, scale, len(waiting))
    axis = page.color_scale(scale, beside=_beside(places, narrow), title=share_title(scale))
    for at, title in zip(places, titles, strict=False):
        _title(page, at, title)
    for number, at in enumerate(places[: len(titles)]):
        page.picture(at.image, result.image, grey=number > 0)
    image, answer = places[0], _explained(result)
    if answer is not None:
        page.small(image.image.x, image.bottom + 6, answer, muted=True, pixels=image.right - image.image.x)
    for number, at in enumerate(places[1 : len(titles)]):
        _map(page, at, result, number, shares[number], scale, axis, opacity)
    bottom = _offers(page, bottom + 6, result, waiting)
    bottom = _below(page, bottom, result)
    how = EACH_END.format(percentile=PERCENTILE) if scale.goes_on else EACH
    return caption_below(page, bottom, result, directed(how, scale.colormap), painted_each(result.values).remarks)


def _explained(result: MethodsResult) -> Text | None:
    """Name what is explained: an answer with its value, or another target."""
    if result.target is None:
        return result.settings_said["target"][1] if "target" in result.settings_said else None
    return same("{name} {value}").format(name=class_name(result.target), value=result.target.display_value)


def share_of_scale(values: np.ndarray) -> np.ndarray:
    """Return the values of one map as shares of the end of its scale, NaN for no number; a map of zeros as it is."""
    return np.where(np.isfinite(values), values, np.nan).astype(float) / (scale_end(values) or 1.0)


def scale_of_shares(shares: Sequence[np.ndarray], colormap: str | None = None) -> Scale:
    """Return the scale of several maps, each in shares of its own: up to 1, from -1 if any is signed."""
    together = np.concatenate([np.ravel(map_shares) for map_shares in shares])
    return scale_of(np.array([-1.0, 1.0] if is_signed(together) else [1.0]), colormap).over(together)


def share_title(scale: Scale) -> Text:
    """Return the title of the bar of such a scale."""
    return SHARE_OF_END if scale.goes_on else SHARE


def _places(
    page: Page, result: MethodsResult, y: float, titles: list[Text], narrow: bool, scale: Scale, offers: int
) -> tuple[list[Place], float]:
    """Return places in rows, as large as the page allows, and y below them; in a narrow page the scale comes last."""
    count = len(titles) + narrow
    room = page.inner - (0 if narrow else BAR_ROOM)
    below = 8 + _line_count(scale) * LINE + (BAR + 6 + LINE if result.areas is not None else 0)
    ratio = result.image.shape[0] / result.image.shape[1]
    buttons = BUTTON + (math.ceil(offers / page.columns(offers, GAP, LEAST)[0]) * (BUTTON + GAP) if offers else 0)
    tall = page.high(620, y + page.margin + 2 * LINE + buttons, 0)

    def wide_in(cols: int) -> float:
        rows, across = math.ceil(count / cols), (room + GAP) / cols - GAP
        return across if narrow else min(across, max(NARROWEST, (tall / rows - 2 * LINE - below) / ratio))

    possible = [n for n in range(1, count + 1) if n == 1 or (room + GAP) / n - GAP >= NARROWEST]
    cols = max(possible, key=lambda n: (wide_in(n), n))
    first = place(result.image, result.grid, Box(page.margin, y, wide_in(cols), wide_in(cols) * ratio))
    across, down = first.right - page.margin + GAP, first.bottom - y
    lines = max(len(_lines(page, title, across - GAP)) for title in titles)
    step = 6 + LINE * lines + down + below + GAP
    tops = [y + 6 + LINE * lines + number // cols * step - y for number in range(count)]
    places = [first.moved(number % cols * across, top) for number, top in enumerate(tops)]
    return places, places[-1].bottom + below


def _line_count(scale: Scale) -> int:
    """Return the number of lines under each map: its range, and a note where patches lie beyond the scale."""
    return 1 + scale.goes_on


def _beside(places: list[Place], narrow: bool) -> Box:
    """Return the box that the colour scale stands beside."""
    if narrow:
        return places[-1].image._replace(width=0)
    top = places[0].image.y
    return Box(max(at.right for at in places), top, 0, places[0].bottom - top)


def _lines(page: Page, title: Text, pixels: float) -> list[str]:
    return wrap(title.in_(page.language), pixels, TEXT_SIZE * 1.05)  # a little more, as it is bold


def _title(page: Page, at: Place, title: Text) -> None:
    lines = _lines(page, title, at.right - at.image.x)
    y = at.image.y - 4 - LINE * len(lines)
    for line in lines:
        page.text(at.image.x, y, line, bold=True)
        y += LINE


def draw_shares(
    page: Page, cells: Box, result: MethodsResult, number: int, share: np.ndarray, axis: str, opacity: float
) -> None:
    """Draw the map of one method as shares of the end of its scale; a click opens its view."""
    values = result.own_values(number)
    name = without_brackets(result.titles[number]).in_(page.language)
    row, col = np.indices(values.shape)
    page.cells(
        cells,
        share,
        axis,
        name=name,
        opacity=opacity,
        where=WHERE,
        places=np.stack([row, col, values], axis=-1),
        press={"view": result.methods[number], "name": name},
    )


def _map(
    page: Page,
    at: Place,
    result: MethodsResult,
    number: int,
    share: np.ndarray,
    scale: Scale,
    axis: str,
    opacity: float,
) -> None:
    draw_shares(page, at.cells, result, number, share, axis, opacity)
    values = result.own_values(number)
    y, x = at.bottom + 6, at.image.x
    range_text = remark(values) or RANGE.format(low=measured(np.nanmin(values)), high=measured(np.nanmax(values)))
    page.small(x, y, range_text, muted=True)
    note_beyond(page, x, y + LINE, int(scale.outside(share).sum()), SHORT)
    y += _line_count(scale) * LINE
    if result.areas is not None:
        gains = _areas(page, Box(x, y + 2, at.right - x, BAR), result, result.areas, number)
        _mark(page, at.cells, gains[:-1], number)


def _areas(page: Page, line: Box, result: MethodsResult, areas: np.ndarray, number: int) -> np.ndarray:
    """Draw the bar from one area to the other and both numbers. Returns the gain of each method."""
    deletion, insertion = (areas[:, result.curves.index(curve)] for curve in ("deletion", "insertion"))
    down, up, gains = float(deletion[number]), float(insertion[number]), insertion - deletion
    page.rectangle(line, fill=page.theme.line)
    color = page.theme.bar if gains[number] > gains[-1] else page.theme.muted
    low, high = _line(result)
    left, right = ((end - low) / ((high - low) or 1.0) for end in sorted((down, up)))
    page.rectangle(line._replace(x=line.x + left * line.width, width=max(2, (right - left) * line.width)), fill=color)
    y = line.bottom + 4
    page.small(line.x, y, f"{thousandths(down)} ↓")
    page.small(line.right, y, f"{thousandths(up)} ↑", anchor="right")
    return gains


def _line(result: MethodsResult) -> tuple[float, float]:
    """Return both ends of the line on which areas are drawn."""
    if result.target is not None and not isinstance(result.target, Output):
        return 0.0, 1.0
    return min(0.0, float(result.areas.min())), max(0.0, float(result.areas.max()))


def _mark(page: Page, cells: Box, gains: np.ndarray, number: int) -> None:
    """Draw a word in the corner of the best and of the worst map."""
    if number >= len(gains) or np.ptp(gains) == 0 or gains.min() < gains[number] < gains.max():
        return
    is_best = gains[number] == gains.max()
    words, fill = (BEST, page.theme.bar) if is_best else (WORST, page.theme.muted)
    box = Box(cells.right - 54, cells.bottom - 24, 54, 24)
    page.rectangle(box, fill=fill)
    page.small(*box.centre, words, bold=True, color=page.theme.paper, anchor="center", vertical="middle")


def _offers(page: Page, y: float, result: MethodsResult, waiting: Sequence[tuple[str, Text]]) -> float:
    """Draw a button for each method that was not computed. Returns y below them."""
    per_row, wide = page.columns(len(waiting), GAP, LEAST) if waiting else (1, 0)
    for number, (key, title) in enumerate(waiting):
        row, col = divmod(number, per_row)
        box = Box(page.margin + col * (wide + GAP), y + row * (BUTTON + GAP), wide, BUTTON)
        settings = {"methods": ",".join((*result.methods, key))}
        _button(page, box, COMPUTE.format(title=without_brackets(title)), MANY.format(title=title), settings)
    return y + math.ceil(len(waiting) / per_row) * (BUTTON + GAP)


def _below(page: Page, y: float, result: MethodsResult) -> float:
    """Explain the bars, or draw the button that measures them. Returns y below it."""
    if result.areas is not None:
        low, high = (measured(end) for end in _line(result))
        return 12 + page.small(page.margin, y, AREAS.format(low=low, high=high), muted=True, pixels=page.inner)
    if page.sheet.is_slide:
        return y + 6
    box = Box(page.margin, y, page.inner, BUTTON)
    _button(page, box, MEASURE.format(passes=result.passes), HINT, {"measure": "True"})
    return box.bottom


def _button(page: Page, box: Box, words: Text, hover: Text, settings: Mapping[str, str]) -> None:
    """Draw a button; a click computes this figure with other settings."""
    pieces = [(box, page.theme.bar, hover.in_(page.language))]
    page.bars(pieces, gap=0, press={"settings": settings, "name": words.in_(page.language)})
    color, pixels = page.theme.paper, box.width - 8
    page.text(*box.centre, words, bold=True, color=color, anchor="center", vertical="middle", pixels=pixels)


RENDERERS = (Renderer(MethodsResult, draw),)
