"""Which map should I trust? The rank of every method in tests with a known truth, and its result on this image.

The tables come from `python -m benchmarks.truth` (`vitexplorer.core.standings`): maps of a bundled model are compared
with drawn scenes whose truth is known. Each number is a mean over cases with its 95 % interval, and the mean rank is
over all numbers that judge whether a map is right. On this image no truth is known. Here methods are measured by
deletion and insertion (Petsiuk et al. 2018, arXiv 1806.07421), the area between both curves, as in the view
`faithfulness`. The lead of the best one has the uncertainty of `quantities.faithfulness`; a lead within it is said to
tell nothing.

Misleading: a method that is right on drawn scenes may be wrong on a photograph, and the best one may not be good. So
the last rows show the random map and, where it is known, the truth itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import CURVE_CONTROLS, AnyTargetControl, MethodsControl
from vitexplorer.controls.explained import Target
from vitexplorer.core.capture_protocol import without_answer
from vitexplorer.core.format import measured, percent
from vitexplorer.core.paper import Paper
from vitexplorer.core.standings import ORACLE, RANDOM, STEADY, Standings, standings
from vitexplorer.core.text import Progress, Text, present
from vitexplorer.core.trust_result import TrustResult
from vitexplorer.quantities.faithfulness import best_text, gains
from vitexplorer.quantities.targets import PROBABILITY, unit_of_value
from vitexplorer.views import VIEWS, explanations
from vitexplorer.views.record import View

RANK, HERE = "mean_rank", "this_image"
TRUTH = Text("The truth itself", "真实答案")
BEST_AT = {
    "grid_pointing": Text(
        "among several objects, {tells} finds the right one best: {share} of its relevance ({interval}; {chance} by "
        "chance).",
        "画面中有多个物体时，“{tells}”找得最准，其相关性有 {share} 落在正确的物体处（{interval}；随机为 {chance}）。",
    ),
    "target_sensitivity": Text(
        "asked about other classes, {tells} finds their parts best: in {share} of the cases "
        "({interval}; {chance} by chance).",
        "询问其他类别时，“{tells}”最能找到属于该类别的部件，在 {share} 的样例中找对（{interval}；随机为 {chance}）。",
    ),
}
NO_TABLE = Text(
    "The maps of this model were never checked against a known truth: only unchanged bundled models at their own "
    "image size were. The value below is for this image alone.",
    "该模型的图从未用已知的真实答案检验过：检验过的只有未经改动、使用自身图像尺寸的内置模型。下面的数值仅针对本图。",
)
GAIN = Text(
    "This image: the area between the insertion and deletion curves, a mean difference of probabilities from −1 to 1.",
    "本图：插入曲线与删除曲线之间的面积，即概率差的平均值，取值从 −1 到 1。",
)
GAIN_OF_SCORE = Text(
    "This image: the area between the insertion and deletion curves, a mean difference of what is explained, in its "
    "own unit ({unit}).",
    "本图：插入曲线与删除曲线之间的面积，即所解释数值之差的平均值，以其自身单位（{unit}）计。",
)
TRUTH_ROW = Text(
    "The last row, the truth itself, says how well a map could do.", "最后一行是真实答案，它表明一幅图最好能做到多好。"
)
RANKED = Text(
    "Mean rank: among {count} methods at their default settings, over the numbers that say whether a map is right "
    "(all but sensitivity and randomised parameters); 1 is the best.",
    "平均名次：{count} 种方法均取默认设置，按各项说明图是否正确的数值（不含敏感度和参数随机化）分别排名，再取平均；"
    "1 为最好。",
)


def compute(
    capture: Capture, target: Target, methods: tuple[str, ...], steps: int, seed: int, progress: Progress | None = None
) -> TrustResult:
    """Compute numbers (methods, numbers): the mean rank, this image, and the columns of the model's table."""
    here = VIEWS["side_by_side"].compute(capture, target, methods, True, steps, seed, progress)
    table = standings(capture.provenance)
    rows = (*methods, ORACLE) if table else methods
    unit = unit_of_value(capture, target)
    gain = dict(zip(methods, gains(here.areas), strict=True))
    columns = [_Column(HERE, Text("this image", "本图"), "high", _numbers(gain, rows, cases=1))]
    if table:
        judged = sum(key not in STEADY for key in table.numbers)
        columns = [
            _Column(RANK, Text("mean rank", "平均名次"), "low", _numbers(table.ranked, rows, cases=judged)),
            *columns,
            *_known(table, rows),
        ]
    values, low, high, counts = np.stack([column.numbers for column in columns], axis=-1)
    return TrustResult(
        values=values,
        axes=("methods", "protocols"),
        unit=Text("each number its own", "各项数值各自的单位"),
        formula=Text("means over cases; ∫ insertion − ∫ deletion", "各样例的平均值；∫ 插入 − ∫ 删除"),
        notes=present(
            *here.notes,
            RANKED.format(count=len(table.ranked)) if table else NO_TABLE,
            TRUTH_ROW if table else None,
            GAIN if unit == PROBABILITY else GAIN_OF_SCORE.format(unit=unit),
        ),
        methods=rows,
        titles=(*here.titles, TRUTH)[: len(rows)],
        protocols=tuple(column.key for column in columns),
        names=tuple(column.name for column in columns),
        better=tuple(column.better for column in columns),
        low=low,
        high=high,
        counts=np.nan_to_num(counts).astype(int),
        here=here,
    )


class _Column(NamedTuple):
    """One number of every method."""

    key: str
    name: Text
    better: Literal["high", "low"]
    numbers: Float[np.ndarray, "entries methods"]
    """Mean, both ends of its interval, number of cases; NaN where it was not measured"""


def _numbers(known: Mapping[str, float], rows: Sequence[str], cases: int) -> Float[np.ndarray, "entries methods"]:
    """Return numbers without an interval."""
    values = np.array([known.get(method, np.nan) for method in rows])
    return np.stack([values, *np.full((2, len(rows)), np.nan), cases * np.isfinite(values)])


def _known(table: Standings, rows: Sequence[str]) -> Iterator[_Column]:
    """Yield the columns of a model's table."""
    numbers = np.full((4, len(rows), len(table.numbers)), np.nan)
    for at, method in enumerate(rows):
        if method in table.methods:
            row = table.methods.index(method)
            numbers[:, at] = table.values[row], table.low[row], table.high[row], table.counts[row]
    for at, (key, name, better) in enumerate(zip(table.numbers, table.names, table.better, strict=True)):
        yield _Column(key, name, better, numbers[..., at])


def reading(result: TrustResult) -> Text:
    """Say how far the best method on this image is ahead, then name the best by the tables."""
    here = result.here
    image_sentence = best_text(here.titles, here.areas, here.uncertainties)
    table = standings(result.provenance)
    if table is None:
        return image_sentence
    best, number = next(iter(table.ranked)), table.class_sensitive
    sharpest = max(table.ranked, key=lambda method: np.nan_to_num(table.of(method, number)))
    best_at = BEST_AT[number].format(
        tells=VIEWS[sharpest].title,
        share=percent(table.of(sharpest, number)),
        interval=percent(table.interval(sharpest, number)),
        chance=percent(table.of(RANDOM, number)),
    )
    return Text(
        "{here} Tests with a known truth rank {best} first (mean rank {rank} of {count}); {told}",
        "{here}按有真实答案的测试，该模型上“{best}”名次最好（{count} 种方法中平均名次 {rank}）；{told}",
    ).format(
        here=image_sentence,
        best=VIEWS[best].title,
        rank=measured(table.ranked[best]),
        count=len(table.ranked),
        told=best_at,
    )


VIEW = View(
    title=Text("Trust", "可信度"),
    question=Text("Which map should I trust?", "应当相信哪一幅图？"),
    misleads=Text(
        "A method that is right on drawn scenes may be wrong on photographs, and the best one may still be poor: "
        "compare it with the random map. One image does not rank methods.",
        "在合成场景上正确，不等于在照片上也正确；最好的方法也可能仍然很差：请与随机图比较。一幅图像不能给方法排名。",
    ),
    room="flow",
    group="judge",
    compute=compute,
    reading=reading,
    runs="many",
    overview=True,
    controls=(AnyTargetControl(), MethodsControl(known=explanations), *CURVE_CONTROLS),
    paper=Paper("Petsiuk et al. 2018", "https://arxiv.org/abs/1806.07421"),
    refuses=without_answer,
)
