"""What do the two answer? The likeliest classes of both, with the probability that each model gives them.

Probabilities are a softmax over all of a model's classes; two models with one output show their output. Classes are
matched by name if both models name theirs, otherwise by number; a class that a model lacks is left empty.
Misleading: probabilities over different class lists are not on one scale.
"""

from __future__ import annotations

import numpy as np

from vitexplorer.capturing.capture import Capture
from vitexplorer.comparisons.record import Comparison
from vitexplorer.comparisons.sides import names_of
from vitexplorer.core.capture_protocol import has_one_output
from vitexplorer.core.text import Text
from vitexplorer.core.types import OUTPUT, PROBABILITY, SidesResult, value_text
from vitexplorer.quantities.read_out import answer_text, displayed_values, top_classes, unit_of_values

NOT_ALIKE = Text(
    "{number} predicts a number and {classes} predicts classes: their answers cannot be compared.",
    "{number} 预测一个数值，而 {classes} 预测类别：两者的答案无法对比。",
)


def compute(left: Capture, right: Capture) -> SidesResult:
    """Compute the probabilities of the likeliest classes of both, (classes, sides); NaN if a model lacks the class.

    The left model's classes come first. Models with one output give that output, (1, sides).
    """
    sides = (left, right)
    unit = unit_of_values(left.logits)
    shares = [displayed_values(capture.logits.double()).tolist() for capture in sides]
    by_name = all(capture.model.class_names for capture in sides)
    keys = [[*capture.model.class_names] if by_name else [*range(len(capture.logits))] for capture in sides]
    places = [
        {key: n for n, key in reversed([*enumerate(side_keys)])} for side_keys in keys
    ]  # the first of equal names
    best = {
        side_keys[top.index]: answer_text(top)
        for capture, side_keys in zip(sides, keys, strict=True)
        for top in top_classes(capture.logits, capture.model.class_texts)
    }
    values = [
        [share[at[key]] if key in at else np.nan for share, at in zip(shares, places, strict=True)] for key in best
    ]
    return SidesResult(
        values=np.array(values),
        axes=("classes", "sides"),
        unit=unit,
        formula="softmax(logits)" if unit == PROBABILITY else "f(x)",
        entries=tuple(best.values()),
        units=(unit,) * len(best),
        names=names_of(left, right),
    )


def refuses(left: Capture, right: Capture) -> Text | None:
    """Refuse a model without a classifier, and a pair of which only one has a single output."""
    for capture in (left, right):
        if capture.logits is None:
            return Text(
                "{model} has no classifier, so it gives no answer to compare.",
                "{model} 没有分类头，因此没有可以对比的答案。",
            ).format(model=capture.model.title)
    if has_one_output(left) == has_one_output(right):
        return None
    number, classes = (left, right) if has_one_output(left) else (right, left)
    return NOT_ALIKE.format(number=number.model.name, classes=classes.model.name)


def reading(result: SidesResult) -> Text:
    """Summarise the first answer of each."""
    first = [int(np.nanargmax(side)) for side in result.values.T]
    words = {
        "one": result.entries[first[0]],
        "share": value_text(result.values[first[0], 0], result.unit),
        "other": result.entries[first[1]],
        "other_share": value_text(result.values[first[1], 1], result.unit),
    }
    if result.unit == OUTPUT:
        return Text(
            "On the left {one} is {share}, on the right {other} is {other_share}.",
            "左侧{one}为 {share}，右侧{other}为 {other_share}。",
        ).format(**words)
    if first[0] == first[1]:
        return Text(
            "Both answer {one}: {share} on the left, {other_share} on the right.",
            "两者都答{one}：左侧 {share}，右侧 {other_share}。",
        ).format(**words)
    return Text(
        "The left one answers {one} ({share}), the right one {other} ({other_share}).",
        "左侧的答案是{one}（{share}），右侧是{other}（{other_share}）。",
    ).format(**words)


COMPARISON = Comparison(
    title=Text("Answers side by side", "答案对比"),
    question=Text("What do the two answer?", "两者的答案是什么？"),
    misleads=Text(
        "Each probability is a share among all classes of its model. With different lists of classes the shares "
        "cannot be compared.",
        "每个概率都是在该模型的全部类别中所占的份额。如果类别列表不同，这些份额就不能互相比较。",
    ),
    compute=compute,
    reading=reading,
    refuses=refuses,
)
