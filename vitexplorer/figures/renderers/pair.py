"""Two captures, or two runs: both pictures and their difference.

Where two maps have a difference, it is large, and both maps are small beside it. A window fades from the left map to
the right one in its place, and blinks between them, so that eyes can compare; a click on a small map shows it large.
"""

from __future__ import annotations

import numpy as np

from vitexplorer.core.text import Text, same
from vitexplorer.core.types import OUTPUT, PREFIX_WORDS, BeforeAfterResult, PairResult, value_text
from vitexplorer.figures.beyond import ROOM, note_beyond
from vitexplorer.figures.boxes import Box, Place, place
from vitexplorer.figures.caption import class_name
from vitexplorer.figures.captioned import caption_below
from vitexplorer.figures.chart import ABOVE, BELOW, LEFT, Chart, style_of
from vitexplorer.figures.colors import Scale, direction, map_scale, scale_of, signed_scale
from vitexplorer.figures.large_and_small import HEAD, Panel, draw_panel, large_and_small
from vitexplorer.figures.page import BAR_ROOM, Page
from vitexplorer.figures.renderers.pictures import enlarged
from vitexplorer.figures.renderers.sides import draw_bar
from vitexplorer.figures.rendering import Renderer
from vitexplorer.figures.scaling import RAW, range_text

TITLE, GAP = 26, 18
"""Pixels over a picture and between pictures"""
DIFFERENCE = Text("right − left", "右 − 左")
NEXT = {"difference": "left", "left": "right", "right": "difference"}
"""Map that a click on the large one shows instead of it"""
FADE = (DIFFERENCE, Text("left", "左"), Text("right", "右"), Text("Blink", "闪烁"))
"""Names of the controls that fade between both maps"""
OTHER_IMAGE = Text(
    "No difference is drawn: the two sides saw different images, or different parts of one.",
    "未画出差值图：两侧看到的图像不同，或者是同一图像的不同部分。",
)
OTHER_GRID = Text(
    "No difference is drawn: the left map has {left:patch}, the right one {right}.",
    "未画出差值图：左图有 {left} 个图块，右图有 {right} 个图块。",
)
ONE_SCALE = Text("raw; one scale for both; {direction}", "原始值；两侧共用同一标度；{direction}")
OWN_SCALES = Text("raw; each on its own scale; {direction}", "原始值；两侧各用自己的标度；{direction}")
PLAIN, CHANGED = Text("plain run", "原始运行"), Text("changed run", "更改后")
RUNS = {"before": PLAIN, "after": CHANGED}
CHANGE = same("{after} − {before}").format(**RUNS)
CLASSES = Text("likeliest classes: {before} → {after}", "最可能的类别：{before} → {after}").format(**RUNS)
ONE_OUTPUT = Text("output: {before} → {after}", "输出值：{before} → {after}").format(**RUNS)
COSINE = Text("cosine between the two: {token}", "两者之间的余弦：{token}")
CLASS_STEP = 46
"""Pixels for one class"""


def draw_pair(page: Page, result: PairResult, y: float, *, opacity: float = 0.85) -> float:
    """Draw the difference large and both maps small, or both large. Option: opacity of a map's cells over the image.

    Maps share one scale if their grids and units are equal, so that equal brightness means equal values. On different
    grids each has its own scale, because shares are divided among more patches. The difference has a signed scale.
    Signed scales may end before the largest value, see `map_scale`.
    """
    maps = (result.values[0], result.other)
    if result.values.ndim == 4:
        places = _places(page, result, y + TITLE)
        for at, name, colours in zip(places, result.names, maps, strict=True):
            page.text(at.image.x, at.image.y - TITLE, name, bold=True)
            page.picture(at.cells, enlarged(colours))
        return caption_below(page, max(at.bottom for at in places) + 24, result)
    shares = maps[0].shape == maps[1].shape
    scales = [map_scale(np.stack(maps), None)] * 2 if shares else [map_scale(values, None) for values in maps]
    if result.difference is None:
        bottom = _both_large(page, result, y, opacity, scales)
    else:
        bottom = _difference_large(page, result, y, opacity, scales[0])
    note = (ONE_SCALE if shares else OWN_SCALES).format(direction=direction(scales[0].colormap))
    return caption_below(page, bottom + ROOM, result, note)


def _panels(result: PairResult) -> dict[str, tuple[Panel, np.ndarray]]:
    """Return left, right and, if there is one, the difference: image, lines above it, and values."""
    left, right = (result.image, result.grid), (result.other_image, result.other_grid)
    drawn = {"left": (*left, result.names[0], result.values[0]), "right": (*right, result.names[1], result.other)}
    if result.difference is not None:
        drawn["difference"] = (*left, DIFFERENCE, result.difference)
    return {
        key: (Panel(image, grid, name, range_text(values, result.unit)), values)
        for key, (image, grid, name, values) in drawn.items()
    }


def _difference_large(page: Page, result: PairResult, y: float, opacity: float, scale: Scale) -> float:
    """Draw the chosen map large, left and right small. Returns y below them."""
    panels, chosen = _panels(result), result.settings.get("large")
    keys = [chosen or "difference", "left", "right"]
    fades = keys[0] == "difference" and not page.sheet.is_slide
    if fades:  # its controls say what it is
        panel, values = panels["difference"]
        panels["difference"] = panel._replace(title=same(""), line=same("")), values
    large, upper, lower = places = large_and_small(page, [panels[key][0] for key in keys], y, bar=BAR_ROOM)
    is_difference = keys[0] == "difference"
    large_scale = signed_scale(result.difference) if is_difference else scale
    axis = page.color_scale(large_scale, beside=large.whole, title=DIFFERENCE if is_difference else result.unit)
    both = lower.whole._replace(y=upper.image.y, height=lower.bottom - upper.image.y)
    small_axis = page.color_scale(scale, beside=both, title=result.unit)
    axes, targets = (axis, small_axis, small_axis), (NEXT[keys[0]], "left", "right")
    scales = (large_scale, scale, scale)
    for key, at, axis, own_scale, target in zip(keys, places, axes, scales, targets, strict=True):
        panel, values = panels[key]
        press = {"settings": {"large": target}, "name": panels[target][0].title.in_(page.language)}
        if fades:
            press = {"mix": int(key == "right"), "name": panel.title.in_(page.language)}
        layer = 0 if fades and at is large else None
        name = panel.title.in_(page.language)
        page.cells(at.cells, values, axis, name=name, opacity=opacity, press=press if chosen else None, layer=layer)
        note_beyond(page, at.image.x, at.bottom + 2, int(own_scale.outside(values).sum()))
    if fades:
        _fade(page, large, panels, small_axis, opacity)
    return max(at.bottom for at in places)


def _fade(page: Page, at: Place, panels: dict[str, tuple[Panel, np.ndarray]], axis: str, opacity: float) -> None:
    """Lay the left and the right map under the difference, hidden, with the controls that show and mix them."""
    for layer, key in enumerate(("left", "right"), 1):
        panel, values = panels[key]
        page.cells(at.cells, values, axis, name=panel.title.in_(page.language), opacity=opacity, layer=layer)
    bar = Box(at.image.x, at.image.y - HEAD, at.right - at.image.x + BAR_ROOM - GAP, HEAD)
    page.fade(bar, FADE)


def _both_large(page: Page, result: PairResult, y: float, opacity: float, scales: list[Scale]) -> float:
    """Draw left and right, each with its scale beside it, and why they have no difference. Returns y below."""
    places = _places(page, result, y + HEAD, BAR_ROOM)
    for at, (panel, values), scale in zip(places, _panels(result).values(), scales, strict=True):
        draw_panel(page, at, panel)
        axis = page.color_scale(scale, beside=at.whole, title=result.unit)
        page.cells(at.cells, values, axis, name=panel.title.in_(page.language), opacity=opacity)
        note_beyond(page, at.image.x, at.bottom + 2, int(scale.outside(values).sum()))
    grids = [
        Text("{rows} × {cols}", "{rows} × {cols}").format(rows=g.rows, cols=g.cols)
        for g in (result.grid, result.other_grid)
    ]
    why = OTHER_IMAGE if grids[0] == grids[1] else OTHER_GRID.format(left=grids[0], right=grids[1])
    return page.small(
        page.margin,
        max(at.bottom for at in places) + (ROOM if any(scale.goes_on for scale in scales) else 12),
        why,
        muted=True,
        pixels=page.inner,
    )


def _places(page: Page, result: PairResult, y: float, bar: float = 0) -> list[Place]:
    """Return the places of both pictures, side by side or under each other, with room for a scale right of each."""
    per_row = page.per_row(2, GAP + bar, 180)
    wide = (page.inner - per_row * bar - (per_row - 1) * GAP) / per_row
    tall = page.high(560, y + 60) if per_row == 2 else page.inner
    left = place(result.image, result.grid, Box(page.margin, y, wide, tall))
    room = Box(page.margin + wide + bar + GAP, y, wide, tall)
    if per_row == 1:
        room = Box(page.margin, left.bottom + GAP + HEAD, wide, tall)
    return [left, place(result.other_image, result.other_grid, room)]


def _panel(
    page: Page,
    at: Place,
    name: Text,
    values: np.ndarray,
    axis: str,
    image: np.ndarray | None = None,
    opacity: float = 1.0,
) -> None:
    page.text(at.image.x, at.image.y - TITLE, name, bold=True)
    if image is not None:
        page.picture(at.image, image, grey=True)
    page.cells(at.cells, values, axis, name=name.in_(page.language), opacity=opacity)


def draw_before_after(page: Page, result: BeforeAfterResult, y: float, *, opacity: float = 0.85) -> float:
    """Draw plain run, changed run and difference, then classes and the class token's cosines side by side.

    Both maps share one scale, so that equal brightness means equal values; the difference has a signed scale of its
    own. Option: opacity of the cells over the image.
    """
    bottom = _both_runs(page, result, y, opacity) + 30
    gutter, whole = 60, Box(page.margin, bottom, page.inner, 0)
    if result.classes and page.per_row(2, gutter, 260) == 2:
        half = (page.inner - gutter) / 2
        left = _classes(page, result, whole._replace(width=half))
        below = max(left, _cosines(page, result, whole._replace(x=page.margin + half + gutter, width=half)))
    else:
        bottom = _classes(page, result, whole) + 16 if result.classes else bottom
        below = _cosines(page, result, whole._replace(y=bottom))
    scale = Text("{raw}; one scale for both runs", "{raw}；两次运行共用同一标度").format(raw=RAW)
    return caption_below(page, below + 12, result, scale)


def _both_runs(page: Page, result: BeforeAfterResult, y: float, opacity: float) -> float:
    """Draw plain, changed and difference. Returns y below them."""
    if page.per_row(3, BAR_ROOM, 180) == 3:
        wide = (page.inner - 2 * BAR_ROOM - 2 * GAP) / 3
        first = place(result.image, result.grid, Box(page.margin, y + TITLE, wide, 400))
        step = first.right - page.margin + GAP
        second, third = first.moved(step), first.moved(2 * step + BAR_ROOM - GAP)
    else:
        first = place(result.image, result.grid, Box(page.margin, y + TITLE, page.inner - BAR_ROOM, 260))
        second = first.below(TITLE + GAP)
        third = second.below(TITLE + GAP)
    both = scale_of(np.stack([result.before, result.after]), None)
    axis = page.color_scale(both, beside=second.whole, title=result.unit)
    changes = signed_scale(result.values)
    signed = page.color_scale(changes, beside=third.whole, title=CHANGE)
    _panel(page, first, PLAIN, result.before, axis, result.image, opacity)
    _panel(page, second, CHANGED, result.after, axis, result.changed_image, opacity)
    _panel(page, third, CHANGE, result.values, signed)
    note_beyond(page, third.image.x, third.bottom + 4, int(changes.outside(result.values).sum()))
    return third.bottom


def _classes(page: Page, result: BeforeAfterResult, box: Box) -> float:
    """Draw two bars for each class: the plain run's probability, thinner the changed run's. Returns y below them.

    For a model with one output both bars begin at zero and share a scale up to the larger of the two.
    """
    of_output = result.classes[0].unit == OUTPUT
    page.text(box.x, box.y, ONE_OUTPUT if of_output else CLASSES, bold=True)
    y = box.y + 30
    changed = style_of(page, 1).color
    ends = [value for change in result.classes for value in (change.before, change.after)]
    low, high = (min(0.0, *ends), max(0.0, *ends)) if of_output else (0.0, 1.0)
    for change in result.classes:
        page.small(box.x, y, class_name(change), within=box.width - 150)
        numbers = f"{value_text(change.before, change.unit)} → {value_text(change.after, change.unit)}"
        page.small(box.right, y, numbers, anchor="right")
        for at, value, color in ((20, change.before, page.theme.bar), (28, change.after, changed)):
            draw_bar(page, Box(box.x, y + at, box.width, 6), value, low, high, color)
        y += CLASS_STEP
    x = box.x
    for word, color in ((PLAIN, page.theme.bar), (CHANGED, changed)):
        page.rectangle(Box(x, y + 6, 22, 6), fill=color)
        page.small(x + 30, y, word)
        x += 140
    return y + 24


def _cosines(page: Page, result: BeforeAfterResult, box: Box) -> float:
    """Draw the token's cosine after each block. Returns y below the chart."""
    blocks = np.arange(len(result.cosines))
    low = min(0.0, float(np.floor(10 * result.cosines.min()) / 10))
    inner = Box(box.x + LEFT, box.y + ABOVE + 8, box.width - LEFT, 230)
    chart = Chart(inner, (0.0, max(1.0, float(blocks[-1]))), (low, 1.0))
    name = COSINE.format(token=PREFIX_WORDS[result.token])
    chart.frame(page, Text("after block (counted from 0)", "经过的块（从 0 开始编号）"), name, whole=True)
    chart.curve(page, blocks.tolist(), result.cosines.tolist(), style_of(page, 1), name)
    return inner.bottom + BELOW


RENDERERS = (Renderer(PairResult, draw_pair), Renderer(BeforeAfterResult, draw_before_after))
