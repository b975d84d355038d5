"""Sentences that read off the main numbers of a training's figures, shown beside them and for screen readers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vitexplorer.core.format import counted, measured, percent
from vitexplorer.core.text import Text
from vitexplorer.core.types import ConfusionResult, CurvesResult, ParetoResult, PerClassResult, ResidualsResult, Result
from vitexplorer.finetune.outcome import METRICS

ONE_METHOD = Text(
    "{run} is the only method so far: {value}, {of} {cost}.", "目前只有“{run}”一种方法：{value}，{of} {cost}。"
)
METHODS = Text(
    "{run} is the best: {value}, {of} {cost}. Methods not beaten by any other: {front} of {all}.",
    "“{run}”最好：{value}，{of} {cost}。{all} 种方法中有 {front} 种不被其他方法超越。",
)


def reading(result: Result) -> Text:
    """Describe a figure's numbers in a sentence; by default their range."""
    describe = _OF_VIEW.get(result.view) or _READINGS.get(type(result), _range)
    return describe(result)


def _written(result: Result, value: float) -> str:
    """Format a share as a percentage, another number with three digits."""
    return percent(value) if result.unit == METRICS["accuracy"] else measured(value)


def _best(result: Result, values: np.ndarray) -> int:
    """Return the index of the largest share, or of the smallest error or loss."""
    return int(np.nanargmax(values) if result.unit == METRICS["accuracy"] else np.nanargmin(values))


def _pareto(result: ParetoResult) -> Text:
    best = _best(result, result.values)
    sentence = ONE_METHOD if len(result.trainings) == 1 else METHODS
    cost = result.costs[best]
    return sentence.format(
        run=result.trainings[best],
        value=_written(result, result.values[best]),
        of=result.cost_name,
        cost=measured(cost) if cost % 1 else counted(int(cost)),
        all=len(result.trainings),
        front=int(result.front.sum()),
    )


def _confusion(result: ConfusionResult) -> Text:
    right, images = int(np.trace(result.values)), int(result.values.sum())
    sentence = Text(
        "Right on the validation images: {right} of {images}.", "{images} 幅验证图像中有 {right} 幅预测正确。"
    ).format(right=counted(right), images=counted(images))
    wrong = result.values - np.diag(np.diag(result.values))
    if not wrong.any():
        return sentence
    true, taken = np.unravel_index(int(wrong.argmax()), wrong.shape)
    most = Text(
        ' Most often "{true}" is taken for "{taken}": {count}.', "最常见的是把“{true}”当成“{taken}”：{count} 幅。"
    ).format(true=result.classes[true], taken=result.classes[taken], count=counted(int(wrong.max())))
    return Text(sentence.en + most.en, sentence.zh + most.zh)


def _per_class(result: PerClassResult) -> Text:
    f1 = result.values[:, -1]
    if not np.isfinite(f1).any():
        return _range(result)
    low, high = int(np.nanargmin(f1)), int(np.nanargmax(f1))
    return Text(
        'F1 is lowest for "{worst}", {low}, and highest for "{best}", {high}.',
        "F1 最低的是“{worst}”，为 {low}；最高的是“{best}”，为 {high}。",
    ).format(worst=result.classes[low], low=measured(f1[low]), best=result.classes[high], high=measured(f1[high]))


def _residuals(result: ResidualsResult) -> Text:
    far = result.values[int(np.abs(result.values).argmax())]
    return Text(
        "The root mean squared error is {off}, the mean error {mean}, the largest error {far}.",
        "均方根误差为 {off}，平均误差为 {mean}，最大误差为 {far}。",
    ).format(off=measured(np.sqrt(np.mean(result.values**2))), mean=measured(result.values.mean()), far=measured(far))


def _curves(result: CurvesResult) -> Text:
    values = np.atleast_2d(result.values)
    curve, at = divmod(_best(result, values), values.shape[1])
    last = int(np.flatnonzero(np.isfinite(values[curve]))[-1])
    return Text(
        "{curve} is best at {x_name} {x}: {best}. It ends at {end}.",
        "{curve} 最好时{x_name}为 {x}：{best}；最后为 {end}。",
    ).format(
        curve=result.curves[curve],
        x_name=result.x_name,
        x=measured(result.x[at]) if result.x[at] % 1 else counted(int(result.x[at])),
        best=_written(result, values[curve, at]),
        end=_written(result, values[curve, last]),
    )


def _change(result: CurvesResult) -> Text:
    if not np.nansum(result.values):
        return result.notes[0]
    curve, block = np.unravel_index(int(np.nanargmax(result.values)), result.values.shape)
    return Text("Largest in block {block}, {curve}: {most}.", "最大的是块 {block} 的{curve}：{most}。").format(
        block=int(block), curve=result.curves[curve], most=measured(result.values[curve, block])
    )


def _turned(result: CurvesResult) -> Text:
    first, *_, last = result.values[0]
    return Text(
        "The cosine between the {token} of the base model and that of the tuned model is {first} after the first "
        "block and {last} after the last.",
        "基础模型与微调模型的{token}之间的余弦，在第一个块之后为 {first}，在最后一块之后为 {last}。",
    ).format(token=result.curves[0], first=measured(first), last=measured(last))


def _range(result: Result) -> Text:
    if not np.isfinite(result.values).any():
        return Text("No number is finite.", "没有有限的数值。")
    return Text("{unit}: from {low} to {high}.", "{unit}：从 {low} 到 {high}。").format(
        unit=result.unit, low=measured(np.nanmin(result.values)), high=measured(np.nanmax(result.values))
    )


_READINGS: dict[type[Result], Callable[[Any], Text]] = {
    ParetoResult: _pareto,
    ConfusionResult: _confusion,
    PerClassResult: _per_class,
    ResidualsResult: _residuals,
    CurvesResult: _curves,
}
_OF_VIEW: dict[str, Callable[[Any], Text]] = {"weight_size": _change, "weight_rank": _change, "token_change": _turned}
