"""Which patches support one class in the one and in the other? A relevance map of each for the same class.

The view of the method computes each map for its own model, with its other settings at their defaults. Classes are
matched by name if both models name theirs, otherwise by number if both have equally many.
Misleading: the units of two models differ; a difference of values is not a difference of reasons.
"""

from __future__ import annotations

from vitexplorer.capturing.capture import Capture
from vitexplorer.comparisons.maps import alike
from vitexplorer.comparisons.record import Comparison
from vitexplorer.comparisons.sides import LARGE, pair_of
from vitexplorer.controls import Choice, TargetControl
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.core.types import PairResult
from vitexplorer.quantities.on_the_map import extreme
from vitexplorer.quantities.read_out import answer_text, class_text

METHODS = (
    ("grad_cam", Text("Grad-CAM", "Grad-CAM")),
    ("generic_relevance", Text("Generic relevance", "通用相关性")),
    ("legrad", Text("LeGrad", "LeGrad")),
    ("input_x_gradient", Text("Input × gradient", "输入 × 梯度")),
)


def same_class(left: Capture, right: Capture, target: int) -> int:
    """Return the right model's number of a class of the left. Raises UnsupportedError if it has no such class."""
    names, others = left.model.class_names, right.model.class_names
    if names and others:
        if names[target] in others:
            return target if names == others else others.index(names[target])
    elif left.model.num_classes == right.model.num_classes:
        return target
    name = class_text(target, left.model.class_texts[target] if names else Text("", ""))
    raise UnsupportedError(
        Text(
            "{right} has no class {name}: choose a class of both models.",
            "{right} 没有类别 {name}：请选择两者都有的类别。",
        ).format(right=right.model.name, name=name)
    )


def no_classifier(left: Capture, right: Capture) -> Text | None:
    """Return the refusal for a model without a classifier, or None if both have one."""
    for capture in (left, right):
        if capture.logits is None:
            return Text(
                "{model} has no classifier, so there is no class to explain on both sides.",
                "{model} 没有分类头，因此没有可在两侧同时解释的类别。",
            ).format(model=capture.model.title)
    return None


def refuses(left: Capture, right: Capture) -> Text | None:
    """Refuse models without a classifier, and two that share no class."""
    if reason := no_classifier(left, right):
        return reason
    if left.model.class_names and right.model.class_names:
        shared = bool({*left.model.class_names} & {*right.model.class_names})
    else:
        shared = left.model.num_classes == right.model.num_classes
    if shared:
        return None
    return Text(
        "The two models have no class in common. “Relevance of each one's answer” explains the answer of each.",
        "两个模型没有共同的类别。“各自答案的相关性”可解释两者各自的答案。",
    )


def compute(left: Capture, right: Capture, method: str, target: int, large: str) -> PairResult:
    """Compute both maps, (sides, rows, cols) on the left grid, not rescaled; `large` is for their figure."""
    from vitexplorer.views import compute as compute_view

    right_target = same_class(left, right, target)
    maps = compute_view(method, left, target=target), compute_view(method, right, target=right_target)
    return pair_of((left, right), maps)


def reading(result: PairResult) -> Text:
    """Name the patch that counts most for the class on each side."""
    left, right = result.values
    return Text(
        "For {name}, {one} counts most on the left; on the right, read at the same places, {other}{more}",
        "对于{name}，左侧最重要的是{one}；右侧按左侧图块的位置读取，最重要的是{other}{more}",
    ).format(
        name=answer_text(result.target) if result.target else Text("the class", "该类别"),
        one=extreme(left),
        other=extreme(right),
        more=alike(left, right),
    )


COMPARISON = Comparison(
    title=Text("Relevance of one class", "同一类别的相关性"),
    question=Text("Which patches support one class on each side?", "两侧各有哪些图块支持同一个类别？"),
    misleads=Text(
        "Each map has the unit of its own model: compare their shapes, not their values.",
        "每幅图都以各自模型的单位表示：可以比较形状，不能比较数值。",
    ),
    compute=compute,
    reading=reading,
    refuses=refuses,
    runs="once",
    controls=(Choice("method", Text("Method", "方法"), METHODS), TargetControl(), LARGE),
    paper=Paper("Chefer et al. 2021", "https://arxiv.org/abs/2103.15679"),
)
