"""Sentences that several checks use: what a repair changes, and why a cause cannot be told."""

from __future__ import annotations

from vitexplorer.core.text import Text
from vitexplorer.diagnosis.answers import ACCURACY

NO_PICTURES = Text("There are no pictures.", "没有图像。")
NO_MODEL = Text("There is no model.", "没有模型。")
NO_LABELS = Text("There are no labels that are classes of the model.", "没有与模型类别对应的标签。")
NO_ANSWERS = Text("The model has no classifier, so its answers cannot be judged.", "模型没有分类头，无法评判其回答。")
NO_CLASSES = Text(
    "The model has no classes. Its features can be judged by pictures with labels, two or more of each class.",
    "模型没有类别。评判其特征需要带标签的图像，每类至少两幅。",
)
FEW = Text(
    "{pictures:picture is/pictures are} too few to judge answers by.", "仅有 {pictures} 幅图像，不足以评判回答。"
)
SAME = Text(
    "Changing this leaves the answers to these pictures as good as they are.", "改变这一点不影响模型对这些图像的回答。"
)
MORE = Text(
    "The answers are better when this is changed, by {rise} standard errors, which may be chance; give more pictures.",
    "改变这一点后回答更好，但只相差 {rise} 个标准误，可能是偶然；请提供更多图像。",
)
NO_WEIGHTS = Text("The weights were not loaded, so the answers mean nothing.", "权重没有加载，因此回答没有意义。")
NO_TIME = Text("The time ran out before this was tried.", "时间用完，未能检查。")
LEAST = 8
"""Fewest pictures that answers are judged by"""
_RISES = Text(
    "{what}: {measure} rises from {before} to {after} when that is mended.",
    "{what}：纠正后{measure}由 {before} 升至 {after}。",
)
_ACCURACY = Text("accuracy", "准确率")
_INFORMATION = Text("the information in the answers (nats)", "回答的信息量（奈特）")


def measure_text(measure: str) -> Text:
    """Return the name of a measure in words."""
    return _ACCURACY if measure == ACCURACY else _INFORMATION


def amount(measure: str, value: float) -> str:
    """Format a value of a measure: accuracy in whole percent, anything else with three digits."""
    return share_text(value) if measure == ACCURACY else f"{value:.3g}"


def share_text(share: float) -> str:
    """Format a share, 0-1, in whole percent."""
    return f"{100 * share:.0f} %"


def rises(what: Text, measure: str, before: float, after: float) -> Text:
    """Return the sentence of a finding whose repair was tried."""
    return _RISES.format(
        what=what, measure=measure_text(measure), before=amount(measure, before), after=amount(measure, after)
    )
