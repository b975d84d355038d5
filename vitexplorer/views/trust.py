"""Which map should I trust? The rank of every method in tests with a known truth, and its result on this image.

The tables come from `python -m benchmarks.truth` (`vitexplorer.core.standings`): maps of a bundled model are compared
with drawn scenes whose truth is known. Each number is a mean over cases with its 95 % interval, and the mean rank is
over all numbers that judge whether a map is right. On this image no truth is known. Here methods are measured by
deletion and insertion (Petsiuk et al. 2018, arXiv 1806.07421), the area between both curves, as in the view
`faithfulness`.

Misleading: a method that is right on drawn scenes may be wrong on a photograph, and the best one may not be good. So
the last rows show the random map and the truth itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import CURVE_CONTROLS, MethodsControl, TargetControl
from vitexplorer.core.capture_protocol import without_classifier
from vitexplorer.core.format import measured, percent
from vitexplorer.core.paper import Paper
from vitexplorer.core.standings import ORACLE, RANDOM, STEADY, YARDSTICKS, Standings, standings
from vitexplorer.core.text import Progress, Text
from vitexplorer.core.types import EvaluationResult
from vitexplorer.quantities.faithfulness import gains
from vitexplorer.views import VIEWS, explanations
from vitexplorer.views.record import View

RANK, HERE = "mean_rank", "this_image"
TRUTH = Text("The truth itself", "真实答案")
BEST_AT = {
    "grid_pointing": Text(
        "of several objects {tells} finds the right one best, with {share} of its relevance there "
        "({chance} by chance).",
        "画面中有多个物体时，“{tells}”找得最准，其相关性有 {share} 落在正确的物体处（随机为 {chance}）。",
    ),
    "target_sensitivity": Text(
        "asked about other classes {tells} best finds the parts that are theirs, in {share} of the cases "
        "({chance} by chance).",
        "询问其他类别时，“{tells}”最能找到属于该类别的部件，在 {share} 的样例中找对（随机为 {chance}）。",
    ),
}
NO_TABLE = Text(
    "The maps of this model were never checked against a known truth: only unchanged bundled models at their own "
    "image size were. The value below is for this image alone.",
    "该模型的图从未用已知的真实答案检验过：检验过的只有未经改动、使用自身图像尺寸的内置模型。下面的数值仅针对本图。",
)
GAIN = Text("This image: the area between the insertion and deletion curves.", "本图：插入曲线与删除曲线之间的面积。")
RANKED = Text(
    "Mean rank: among {count} methods at their default settings, over the numbers that say whether a map is right "
    "(all but sensitivity and randomised parameters); 1 is the best.",
    "平均名次：{count} 种方法均取默认设置，按各项说明图是否正确的数值（不含敏感度和参数随机化）分别排名，再取平均；"
    "1 为最好。",
)


def compute(
    capture: Capture, target: int, methods: tuple[str, ...], steps: int, seed: int, progress: Progress | None = None
) -> EvaluationResult:
    """Compute numbers (methods, numbers): the mean rank, this image, and the columns of the model's table."""
    faithfulness = VIEWS["faithfulness"].compute(capture, target, methods, steps, seed, progress)
    table = standings(capture.provenance)
    rows = (*methods, ORACLE) if table else methods
    here = dict(zip(methods, gains(faithfulness.areas), strict=True))
    columns = [_Column(HERE, Text("this image", "本图"), "high", _numbers(here, rows, cases=1))]
    if table:
        judged = sum(key not in STEADY for key in table.numbers)
        columns = [
            _Column(RANK, Text("mean rank", "平均名次"), "low", _numbers(table.ranked, rows, cases=judged)),
            *columns,
            *_known(table, rows),
        ]
    values, low, high, counts = np.stack([column.numbers for column in columns], axis=-1)
    return EvaluationResult(
        values=values,
        axes=("methods", "protocols"),
        unit=Text("each number its own", "各项数值各自的单位"),
        formula=Text("means over cases; ∫ insertion − ∫ deletion", "各样例的平均值；∫ 插入 − ∫ 删除"),
        notes=(*faithfulness.notes, RANKED.format(count=len(table.ranked)) if table else NO_TABLE, GAIN),
        methods=rows,
        titles=(*faithfulness.titles, TRUTH)[: len(rows)],
        protocols=tuple(column.key for column in columns),
        names=tuple(column.name for column in columns),
        better=tuple(column.better for column in columns),
        low=low,
        high=high,
        counts=np.nan_to_num(counts).astype(int),
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


def reading(result: EvaluationResult) -> Text:
    """Name the best method by the tables and how far that carries, and the best on this image."""
    image_sentence = _on_this_image(result)
    table = standings(result.provenance)
    if table is None:
        return image_sentence
    best = next(iter(table.ranked))
    sharpest = max(table.ranked, key=lambda method: np.nan_to_num(table.of(method, table.class_sensitive)))
    share, chance = (percent(table.of(method, table.class_sensitive)) for method in (sharpest, RANDOM))
    best_at = BEST_AT[table.class_sensitive].format(tells=VIEWS[sharpest].title, share=share, chance=chance)
    return Text(
        "By tests with a known truth on this model {best} ranks best (mean rank {rank} of {count}); {told} {here}",
        "按有真实答案的测试，该模型上“{best}”名次最好（{count} 种方法中平均名次 {rank}）；{told}{here}",
    ).format(
        best=VIEWS[best].title,
        rank=measured(table.ranked[best]),
        count=len(table.ranked),
        told=best_at,
        here=image_sentence,
    )


def _on_this_image(result: EvaluationResult) -> Text:
    gains = result.values[:, result.protocols.index(HERE)]
    titles = result.titles
    chance = float(gains[result.methods.index(RANDOM)])
    others = [at for at, method in enumerate(result.methods) if method not in YARDSTICKS]
    if not others:
        return Text(
            "On this image random order has {chance}: a map has to do better.",
            "在本图上随机顺序为 {chance}：图的表现应当优于它。",
        ).format(chance=measured(chance))
    best = max(others, key=lambda at: gains[at])
    fields = {"title": titles[best], "gain": measured(gains[best]), "chance": measured(chance)}
    if gains[best] <= chance:
        return Text(
            "On this image no method beats random order ({chance}); the best, {title}, has {gain}.",
            "在本图上没有方法胜过随机顺序（{chance}）；最好的“{title}”为 {gain}。",
        ).format(**fields)
    return Text(
        "On this image {title} is the best: {gain} between insertion and deletion; a random order has {chance}.",
        "在本图上“{title}”最好：插入与删除曲线之间的面积为 {gain}，随机顺序为 {chance}。",
    ).format(**fields)


VIEW = View(
    title=Text("Trust", "可信度"),
    question=Text("Which map should I trust?", "应当相信哪一幅图？"),
    misleads=Text(
        "A method that is right on drawn scenes may be wrong on photographs, and the best one may still be poor: "
        "compare it with the random map and the truth in the last rows. One image does not rank methods.",
        "在合成场景上正确，不等于在照片上也正确；最好的方法也可能仍然很差：请与最后两行的随机图和真实答案比较。"
        "一幅图像不能给方法排名。",
    ),
    room="flow",
    compute=compute,
    reading=reading,
    runs="many",
    overview=True,
    controls=(TargetControl(), MethodsControl(known=explanations), *CURVE_CONTROLS),
    paper=Paper("Petsiuk et al. 2018", "https://arxiv.org/abs/1806.07421"),
    refuses=without_classifier,
)
