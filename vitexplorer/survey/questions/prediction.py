"""Prediction, confidence and correctness, from the softmax over all classes.

`entropy` is -sum p ln p in nats, `margin` the first probability minus the second, `label_probability` the probability
of the image's label. A multi-label classifier has no softmax of its own: only the order of its numbers is meaningful. A
model with one output has a single column, `output`, in its own unit. After Hendrycks & Gimpel 2017 (arXiv 1610.02136),
section 2, whose score is `probability`.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import torch
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.capture_protocol import has_one_output
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.quantities.read_out import displayed_values
from vitexplorer.survey.question import Column, Question, Values

SHARE = Text("0 to 1", "0 到 1")
COLUMNS = (
    Column("predicted", Text("Predicted class", "预测类别"), type=pa.int32()),
    Column("probability", Text("Probability of the predicted class", "预测类别的概率"), SHARE, type=pa.float32()),
    Column("second", Text("Second class", "次选类别"), type=pa.int32()),
    Column("second_probability", Text("Probability of the second class", "次选类别的概率"), SHARE, type=pa.float32()),
    Column("margin", Text("First minus second probability", "前两类概率之差"), SHARE, type=pa.float32()),
    Column("entropy", Text("Entropy of the answer", "预测分布的熵"), Text("nats", "奈特（nat）"), type=pa.float32()),
    Column(
        "label_probability",
        Text("Probability of the labelled class", "标签类别的概率"),
        SHARE,
        "high",
        type=pa.float32(),
    ),
    Column("correct", Text("Whether the answer is the label", "预测是否与标签一致"), better="high", type=pa.bool_()),
)
OF_ONE = (Column("output", Text("Output of the model", "模型的输出值"), type=pa.float32()),)
ONE_NUMBER = Text(
    "{model} answers with one number, so no class is right or wrong.",
    "{model} 的输出是一个数值，因此谈不上类别是否正确。",
)
NO_CLASSIFIER = Text("{model} has no classifier, so nothing is predicted.", "{model} 没有分类头，因此没有预测结果。")


def answers(captures: Sequence[Capture], targets: Sequence[int | None]) -> list[Values]:
    """Return the two likeliest classes of each capture and the label's probability; or the single output.

    Raises UnsupportedError for a model without a classifier.
    """
    logits = [capture.logits for capture in captures]
    if logits[0] is None:
        raise UnsupportedError(NO_CLASSIFIER.format(model=captures[0].model.title))
    if has_one_output(captures[0]):
        return [{"output": float(output[0])} for output in logits]
    probabilities = displayed_values(torch.stack(logits).double()).cpu()
    entropies = torch.special.entr(probabilities).sum(-1).tolist()
    best = probabilities.topk(2)
    rows = zip(probabilities, best.values.tolist(), best.indices.tolist(), entropies, targets, strict=True)
    return [_values(*row) for row in rows]


def _values(
    probabilities: Float[Tensor, " classes"], best: list[float], classes: list[int], entropy: float, target: int | None
) -> Values:
    first, second = best
    return {
        "predicted": classes[0],
        "probability": first,
        "second": classes[1],
        "second_probability": second,
        "margin": first - second,
        "entropy": entropy,
        "label_probability": None if target is None else float(probabilities[target]),
        "correct": None if target is None else classes[0] == target,
    }


QUESTION = Question(
    key="prediction",
    title=Text("Prediction", "预测"),
    question=Text("What does the model say, and how sure is it?", "模型的答案是什么，有多大把握？"),
    columns=lambda capture: OF_ONE if has_one_output(capture) else COLUMNS,
    answers=answers,
    paper=Paper("Hendrycks & Gimpel 2017", "https://arxiv.org/abs/1610.02136"),
)
