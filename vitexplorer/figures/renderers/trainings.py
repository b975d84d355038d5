"""Trainings: confusion matrix, figures of each class, errors of predicted numbers, and cost against quality."""

from __future__ import annotations

import math

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.core.types import ConfusionResult, ParetoResult, PerClassResult, ResidualsResult
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.captioned import caption_below
from vitexplorer.figures.chart import ABOVE, BELOW, LEFT, Chart, span, style_of, ticks
from vitexplorer.figures.class_names import LINE, class_names
from vitexplorer.figures.colors import UNSIGNED, Scale
from vitexplorer.figures.page import BAR_ROOM, Page
from vitexplorer.figures.rendering import Renderer

NAMES, LARGEST, ROOM_FOR_NUMBER = 190, 620, 26
"""Pixels for the names of true classes, of the matrix, and of a cell with a number"""
TRUE, PREDICTED = Text("true class", "真实类别"), Text("predicted class", "预测类别")
SHARE = Text("share of the true class", "占该真实类别的比例")
WHERE = Text("true %{customdata[0]}, predicted %{customdata[1]}", "真实 %{customdata[0]}，预测 %{customdata[1]}")
CLASS_NAMES, STEP, BAR, GUTTER, MOST = 230, 30, 12, 24, 60
"""Pixels for a class's name, of a row, of a bar, and right of a number; and most rows"""
IMAGES = Text("images", "图像数")
LEFT_OUT = Text("The {count:best class is/best classes are} not drawn.", "未画出最好的 {count} 个类别。")
TRUE_NUMBER = Text("true number", "真实值")
HEIGHT, DEAREST = 420, 180
"""Pixels of the height of costs, and right of them for the name of the dearest run"""
BASELINE = Text("linear on frozen features", "冻结特征上的线性模型")
FRONT = Text("The line joins the runs that no other beats in both.", "连线经过的训练，没有其他训练能在两方面都胜过。")


def draw_confusion(page: Page, result: ConfusionResult, y: float, *, colormap: str = UNSIGNED) -> float:
    """Draw a row for each true class, a column for each predicted class. Option: colormap.

    Colours are shares of the row, so that classes with few images are readable too; the numbers are counts.
    """
    counts, classes = result.values, len(result.classes)
    shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    page.small(page.margin, y, TRUE, muted=True)
    names_room = min(NAMES, 0.26 * page.inner)
    side = min(page.high(LARGEST, y + 24 + 2 * LINE + 28), page.inner - names_room - BAR_ROOM, 64 * classes)
    box = Box(page.margin + names_room, y + 24, side, side)
    scale = Scale(colormap, 0.0, 1.0)
    names = np.array(result.classes, dtype=object)
    places = np.stack(np.meshgrid(names, names, indexing="ij"), axis=-1)
    page.cells(box, shares, page.color_scale(scale, beside=box, title=SHARE), where=WHERE, places=places)
    class_names(page, box, result.classes, names_room - 14)
    if side / classes >= ROOM_FOR_NUMBER:
        for row, col in np.argwhere(counts).tolist():
            centre, color = box.cell(classes, classes, row, col).centre, scale.text_color(float(shares[row, col]))
            page.small(*centre, f"{counts[row, col]}", color=color, anchor="center", vertical="middle")
    below = page.small(box.centre[0], box.bottom + LINE + 14, PREDICTED, muted=True, anchor="center")
    return caption_below(page, below + 14, result)


def draw_per_class(page: Page, result: PerClassResult, y: float) -> float:
    """Draw figures of each class as bars side by side, with its number of images; the worst class first."""
    names = min(CLASS_NAMES, 0.3 * page.inner)
    wide = (page.inner - names - 80) / len(result.figures)
    columns = [page.margin + names + at * wide for at in range(len(result.figures))]
    for x, name in zip(columns, result.figures, strict=True):
        page.small(x, y, name, muted=True)
    page.small(page.right, y, IMAGES, muted=True, anchor="right")
    y += 26
    room = max(0, wide - GUTTER - 60)
    order = np.argsort(result.values[:, -1], kind="stable")
    for number in order[:MOST].tolist():
        page.small(page.margin, y, result.classes[number], within=names - 20)
        for x, value in zip(columns, result.values[number].tolist(), strict=True):
            page.meter(Box(x, y + 4, room, BAR), value)
            page.small(x + room + 8, y, f"{100 * value:.0f} %")
        page.small(page.right, y, str(int(result.support[number])), anchor="right")
        y += STEP
    remarks = (LEFT_OUT.format(count=len(order) - MOST),) if len(order) > MOST else ()
    return caption_below(page, y + 12, result, remarks=remarks)


def draw_residuals(page: Page, result: ResidualsResult, y: float) -> float:
    """Draw the error of each prediction over the true number, a point for each image; zero is right."""
    largest = float(np.abs(result.values).max(initial=0)) or 1.0
    across = span(result.targets, from_zero=False)
    box = Box(page.margin + LEFT, y + ABOVE, page.inner - LEFT, page.high(440, y + ABOVE + BELOW + 10))
    chart = Chart(box, across, span(np.array([-largest, largest])))
    chart.frame(page, TRUE_NUMBER, result.unit)
    page.line(chart.at(across[0], 0), chart.at(across[1], 0), page.theme.text)
    style = style_of(page, 0)
    for true, off in zip(result.targets.tolist(), result.values.tolist(), strict=True):
        page.curve([chart.at(true, off)], style.color, words=[f"{true:.4g}: {off:+.4g}"], symbol=style.symbol)
    return caption_below(page, box.bottom + BELOW + 10, result)


def draw_pareto(page: Page, result: ParetoResult, y: float) -> float:
    """Draw every run as a point, the front of those that no other beats, the baseline dashed, and a name at each point.

    The cost has a logarithmic axis: methods differ by factors of a thousand.
    """
    room = min(DEAREST, 0.3 * page.inner)
    logs = np.log10(result.costs)
    left, right = math.floor(logs.min() - 0.05), math.ceil(logs.max() + 0.05)
    heights = result.values if result.baseline is None else np.append(result.values, result.baseline)
    box = Box(page.margin + LEFT, y + ABOVE, page.inner - LEFT - room, page.high(HEIGHT, y + ABOVE + BELOW + 10))
    chart = Chart(box, (left, right), _up(heights))
    chart.lines_up(page)
    for power in range(left, right + 1):
        x = chart.at(power, 0)[0]
        page.line((x, box.y), (x, box.bottom))
        page.small(x, box.bottom + 7, f"{10.0**power:,.10g}", muted=True, anchor="center")
    chart.names(page, result.cost_name, result.unit)
    if result.baseline is not None:
        start, end = chart.at(left, result.baseline), chart.at(right, result.baseline)
        page.curve([start, end], page.theme.muted, dash="dash", width=1.5)
        page.small(end[0] + 8, end[1], BASELINE, muted=True, vertical="middle", pixels=room)
    points = [chart.at(log, value) for log, value in zip(logs, result.values, strict=True)]
    front = [at for at in np.argsort(result.costs, kind="stable").tolist() if result.front[at]]
    page.curve([points[at] for at in front], page.theme.bar, width=1.5)
    for (x, height), name, value, cost, is_front in zip(
        points, result.trainings, result.values, result.costs, result.front, strict=True
    ):
        color = style_of(page, 0 if is_front else 1).color
        words = f"{name.in_(page.language)}: {value:.4g}, {cost:,.4g}"
        page.curve([(x, height)], color, words=[words], symbol="circle")
        page.small(x + 10, height - 18, name, bold=bool(is_front))
    return caption_below(page, box.bottom + BELOW + 10, result, remarks=(FRONT,))


def _up(values: np.ndarray) -> tuple[float, float]:
    """Return a range around the figures, out to the next ticks; shares stay within 0-1."""
    if values.min() >= 0 and values.max() <= 1:
        return max(0.0, math.floor(10 * values.min() - 0.5) / 10), min(1.0, math.ceil(10 * values.max() + 0.5) / 10)
    low, high = span(values, from_zero=False)
    marks = ticks(low, high)
    step = marks[1] - marks[0] if len(marks) > 1 else high - low
    return math.floor(low / step + 1e-9) * step - step / 2, math.ceil(high / step - 1e-9) * step + step / 2


RENDERERS = (
    Renderer(ConfusionResult, draw_confusion),
    Renderer(PerClassResult, draw_per_class),
    Renderer(ResidualsResult, draw_residuals),
    Renderer(ParetoResult, draw_pareto),
)
