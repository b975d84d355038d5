"""Accuracy of each class, and confusions between classes.

`accuracy` is the share of a class's images that are predicted as it (its recall), over readable images whose label is a
class of the model. Its 95 % interval is Wilson's score interval (Wilson 1927, JASA 22:209; recommended by Brown, Cai &
DasGupta 2001, section 3.1.1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vitexplorer.core.text import Text, UnsupportedError, same
from vitexplorer.core.types import ConfusionResult, PerClassResult
from vitexplorer.survey.answers.results import provenance_of, scope_notes
from vitexplorer.survey.conditions import Where
from vitexplorer.survey.opened import Survey
from vitexplorer.survey.questions.prediction import NO_CLASSIFIER, ONE_NUMBER

MOST_CLASSES, MOST_PAIRS, MOST_TAKEN, MOST_CONFUSED = 2000, 200, 3, 30
"""Limits for classes and pairs of an answer, pairs that every label keeps, and limit for classes of a legible matrix"""
Z = 1.959963984540054
"""Number of standard deviations that contain 95 % of the normal distribution"""


@dataclass(frozen=True)
class ClassAnswer:
    """Numbers of one label."""

    label: str | None
    """Label; None for images without one, which form one class that is neither right nor wrong"""
    count: int
    """Images that could be read"""
    judged: int
    """Images among them whose label names a class of the model"""
    right: int
    accuracy: float | None
    low: float | None
    high: float | None
    """Ends of the 95 % interval of the accuracy"""
    probability: float | None
    """Mean probability of the labelled class"""


@dataclass(frozen=True)
class Pair:
    """Confusion of one class with another."""

    label: str
    predicted: int
    name: Text
    """Name of the predicted class"""
    count: int
    share: float
    """Share of the label's judged images"""


@dataclass(frozen=True)
class PerClass:
    """Numbers of all labels together, and of each."""

    whole: ClassAnswer
    classes: tuple[ClassAnswer, ...]
    """Labels, worst first, without accuracy last; at most `MOST_CLASSES`"""
    pairs: tuple[Pair, ...]
    """Confusions, most frequent first: at most `MOST_PAIRS`, and the first `MOST_TAKEN` of every label"""


def per_class(survey: Survey, where: Where = ()) -> PerClass:
    """Compute the accuracy of each label and the confusions.

    Raises UnsupportedError for a model without a classifier, or with one output.
    """
    if "output" in survey.columns:
        raise UnsupportedError(ONE_NUMBER.format(model=survey.card.model))
    if "predicted" not in survey.columns:
        raise UnsupportedError(NO_CLASSIFIER.format(model=survey.card.model))
    rows = survey.sql(
        "SELECT label, count(*), count(correct), count(*) FILTER (WHERE correct), avg(label_probability::DOUBLE)"
        " FROM {rows} AND predicted IS NOT NULL GROUP BY label",
        where,
    ).fetchall()
    classes = [_answer(*row) for row in rows]
    weights = [(answer.probability or 0.0) * answer.judged for answer in classes]
    judged = sum(answer.judged for answer in classes)
    whole = _answer(
        None,
        sum(answer.count for answer in classes),
        judged,
        sum(answer.right for answer in classes),
        sum(weights) / judged if judged else None,
    )
    judged_of = {answer.label: answer.judged for answer in classes}
    pairs = survey.sql(
        "SELECT label, predicted, count(*) AS number FROM {rows} AND correct = false GROUP BY label, predicted"
        " QUALIFY row_number() OVER (ORDER BY number DESC, label, predicted) <= $most"
        " OR row_number() OVER (PARTITION BY label ORDER BY number DESC, predicted) <= $each"
        " ORDER BY number DESC, label, predicted",
        where,
        most=MOST_PAIRS,
        each=MOST_TAKEN,
    ).fetchall()
    return PerClass(
        whole=whole,
        classes=tuple(sorted(classes, key=_worst_first)[:MOST_CLASSES]),
        pairs=tuple(
            Pair(label, predicted, class_text(survey, predicted), count, count / judged_of[label])
            for label, predicted, count in pairs
        ),
    )


def class_text(survey: Survey, index: int) -> Text:
    """Name a class of the model, by its number if the names are unknown."""
    names = survey.card.class_names
    return names[index] if 0 <= index < len(names) else same(str(index))


def _answer(label: str | None, count: int, judged: int, right: int, probability: float | None) -> ClassAnswer:
    if not judged:
        return ClassAnswer(label, count, 0, 0, None, None, None, None)
    low, high = share_interval(right, judged)
    return ClassAnswer(label, count, judged, right, right / judged, low, high, probability)


def share_interval(successes: int, count: int) -> tuple[float, float]:
    """Compute Wilson's interval of a share, 0-1; NaN for a count of zero."""
    if not count:
        return math.nan, math.nan
    share = successes / count
    spread = Z * Z / count
    middle = (share + spread / 2) / (1 + spread)
    half = Z / (1 + spread) * math.sqrt(share * (1 - share) / count + spread / (4 * count))
    return max(0.0, middle - half), min(1.0, middle + half)


def _worst_first(answer: ClassAnswer) -> tuple:
    return answer.accuracy is None, answer.accuracy or 0.0, -answer.count, answer.label or ""


def per_class_result(survey: Survey, where: Where = ()) -> PerClassResult:
    """Make the figure: accuracy, both ends of its interval and the mean probability of the label, 0-1."""
    classes = [answer for answer in per_class(survey, where).classes if answer.accuracy is not None]
    values = [[answer.low, answer.high, answer.probability, answer.accuracy] for answer in classes]
    return PerClassResult(
        view="survey_per_class",
        title=Text("Accuracy of each class", "各类别的准确率"),
        values=np.array(values, float).reshape(len(classes), 4),
        axes=("classes", "figures"),
        unit=same(""),
        formula="right / judged",
        provenance=provenance_of(survey),
        notes=(*scope_notes(survey, where), Text("Intervals are Wilson's.", "区间为威尔逊区间。")),
        classes=tuple(answer.label or "" for answer in classes),
        figures=(
            Text("lower end, 95 %", "95 % 区间下限"),
            Text("upper end, 95 %", "95 % 区间上限"),
            Text("mean probability of the label", "标签类别的平均概率"),
            Text("accuracy", "准确率"),
        ),
        support=np.array([answer.judged for answer in classes], int),
    )


def confusion_result(survey: Survey, where: Where = (), labels: Sequence[str] | None = None) -> ConfusionResult:
    """Make the confusion matrix of some labels; None for the at most `MOST_CONFUSED` that are confused most."""
    numbers = per_class(survey, where)
    label_of = _labels_of_classes(survey)
    if labels is None:
        named = [name for pair in numbers.pairs for name in (pair.label, label_of.get(pair.predicted))]
        every = [*named, *(answer.label for answer in numbers.classes if answer.accuracy is not None)]
        labels = list(dict.fromkeys(name for name in every if name is not None))[:MOST_CONFUSED]
    at = {label: number for number, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels)), int)
    query = "SELECT label, predicted, correct, count(*) FROM {rows} AND correct IS NOT NULL GROUP BY ALL"
    outside = 0
    for label, predicted, correct, number in survey.sql(query, where).fetchall():
        answered = label if correct else label_of.get(predicted)
        if label in at and answered in at:
            counts[at[label], at[answered]] += number
        else:
            outside += number
    left_out = Text(
        "{count:image lies/images lie} in classes that are not shown.", "另有 {count} 幅图像属于未显示的类别。"
    )
    return ConfusionResult(
        view="survey_confusion",
        title=Text("Which classes are taken for each other?", "哪些类别相互混淆？"),
        values=counts,
        axes=("classes", "classes"),
        unit=Text("images", "图像数"),
        formula="",
        provenance=provenance_of(survey),
        notes=(*scope_notes(survey, where), *([left_out.format(count=outside)] if outside else [])),
        classes=tuple(labels),
    )


def _labels_of_classes(survey: Survey) -> dict[int, str]:
    """Return the label of each predicted class: the one it was right for, if any, otherwise its English name."""
    rows = survey.sql("SELECT predicted, min(label) FROM {rows} AND correct GROUP BY predicted").fetchall()
    names = {number: text.en for number, text in enumerate(survey.card.class_names)}
    return names | dict(rows)
