"""What do the two answer? The likeliest classes of both with the probability that each gives them.

Softmax over all of a model's classes. Classes are matched by name where both name theirs, by number otherwise; one that
a model has not is left empty.
Misleading: probabilities of models with other class lists are shares of other wholes.
"""

from __future__ import annotations

import numpy as np

from vitexplorer.capture import Capture
from vitexplorer.comparisons.sides import names_of
from vitexplorer.interfaces import Comparison
from vitexplorer.numbers import percent
from vitexplorer.quantities.read_out import class_text, top_classes
from vitexplorer.types import SidesResult
from vitexplorer.words import Text

TITLE = Text("Answers side by side", "答案对比")
PROBABILITY = Text("probability", "概率")


def compute(left: Capture, right: Capture) -> SidesResult:
    """Probabilities of the likeliest classes of both, the left one's first, (classes, sides); NaN for no such class."""
    sides = (left, right)
    shares = [capture.logits.double().softmax(-1).tolist() for capture in sides]
    keys = [[_key(capture, n) for n in range(capture.model.num_classes)] for capture in sides]
    places = [{key: n for n, key in reversed([*enumerate(of)])} for of in keys]
    best = {
        _key(capture, top.index): class_text(top.index, top.name)
        for capture in sides
        for top in top_classes(capture.logits, capture.model.class_texts)
    }
    values = [
        [share[at[key]] if key in at else np.nan for share, at in zip(shares, places, strict=True)] for key in best
    ]
    return SidesResult(
        view="answers",
        title=TITLE,
        values=np.array(values),
        axes=("classes", "sides"),
        unit=PROBABILITY,
        formula="softmax(logits)",
        provenance=left.provenance,
        entries=tuple(best.values()),
        units=(PROBABILITY,) * len(best),
        names=names_of(left, right),
    )


def _key(capture: Capture, index: int) -> str | int:
    return capture.model.class_names[index] if capture.model.class_names else index


def refuses(left: Capture, right: Capture) -> Text | None:
    """Models that name no class."""
    for capture in (left, right):
        if capture.logits is None:
            return Text(
                "{model} has no classifier, so it gives no answer to compare.",
                "{model} 没有分类头，因此没有可以对比的答案。",
            ).format(model=capture.model.name)
    return None


def reading(result: SidesResult) -> Text:
    """The first answer of each."""
    first = [int(np.nanargmax(side)) for side in result.values.T]
    said = {
        "one": result.entries[first[0]],
        "share": percent(result.values[first[0], 0]),
        "other": result.entries[first[1]],
        "other_share": percent(result.values[first[1], 1]),
    }
    if first[0] == first[1]:
        return Text(
            "Both answer {one}: {share} on the left, {other_share} on the right.",
            "两者都答{one}：左侧 {share}，右侧 {other_share}。",
        ).format(**said)
    return Text(
        "The left one answers {one} ({share}), the right one {other} ({other_share}).",
        "左侧的答案是{one}（{share}），右侧是{other}（{other_share}）。",
    ).format(**said)


COMPARISON = Comparison(
    title=TITLE,
    question=Text("What do the two answer?", "两者的答案是什么？"),
    misleads=Text(
        "A probability is a share of all classes that a model knows: of other lists they are shares of other wholes.",
        "概率是在模型所知全部类别中所占的份额：类别列表不同，份额的整体也不同。",
    ),
    compute=compute,
    reading=reading,
    refuses=refuses,
)
