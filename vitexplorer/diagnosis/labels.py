"""Check of labels: permuted, shifted by one, or in the order of text."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.diagnosis.examination import Examination
from vitexplorer.diagnosis.label_maps import best_map, is_gain, mapped_labels, named_maps
from vitexplorer.diagnosis.sentences import FEW, LEAST, NO_ANSWERS, NO_LABELS
from vitexplorer.diagnosis.subject import UNKNOWN

CAUSES = ("labels_permuted", "labels_shifted", "labels_sorted_as_text")
_WHAT = {
    "labels_permuted": Text("The labels are in another order than the model's classes", "标签与模型类别的顺序不同"),
    "labels_shifted": Text(
        "Each label is off by one ({by}), as with a class for the background",
        "每个标签都错位一个（{by}），如多出背景类",
    ),
    "labels_sorted_as_text": Text(
        "The labels are numbered in the order of text (0, 1, 10, 11, 2, or by name)",
        "标签按文本顺序编号（0、1、10、11、2，或按名称）",
    ),
}
_BY = ("+1", "-1")


def check_labels(exam: Examination) -> None:
    """Try the maps of usual mistakes, then any assignment, on the answers through the mended feed."""
    believed = exam.subject.labels
    classes = exam.subject.model.num_classes
    if believed is None:
        return exam.cannot_tell(CAUSES, NO_LABELS)
    if classes < 2:
        return exam.cannot_tell(CAUSES, NO_ANSWERS)
    known = believed != UNKNOWN
    if known.sum() < LEAST:
        return exam.cannot_tell(CAUSES, FEW.format(pictures=int(known.sum())))
    exam.did_check(CAUSES)
    answers = exam.logits().argmax(1)
    before = float((answers == believed)[known].mean())
    free = best_map(answers[known], believed[known], classes)
    best: tuple[float, str, np.ndarray, tuple[int, ...]] | None = None
    for cause, maps in named_maps(classes, exam.subject.model.class_names).items():
        for classes_of in maps:
            mapped = _mapped(believed, classes_of)
            share = float((answers == mapped)[known].mean())
            if is_gain(answers[known], believed[known], mapped[known]) and (best is None or share > best[0]):
                best = share, cause, mapped, classes_of
    if free.is_sure and (best is None or free.accuracy > best[0] + 0.05):
        mapped = mapped_labels(believed, free.classes)
        best = float((answers == mapped)[known].mean()), "labels_permuted", mapped, free.classes
    if best is None:
        return None
    share, cause, mapped, classes_of = best
    exam.labels = mapped
    exam.add_repair(
        cause,
        _WHAT[cause].format(by=_by(classes_of)),
        before,
        share,
        certainty=min(0.999, 0.8 + 0.2 * (share - before)),
        repaired=[int(label) for label in mapped],
        evidence={"map": list(classes_of), "pictures": int(known.sum())},
    )


def _mapped(labels: np.ndarray, classes_of: tuple[int, ...]) -> np.ndarray:
    """Map labels, also those just outside of the classes, where the map is a shift."""
    first = classes_of[0]
    if all(new == old + first for old, new in enumerate(classes_of)):
        return np.where(labels == UNKNOWN, UNKNOWN, labels + first)
    return mapped_labels(labels, classes_of)


def _by(classes_of: tuple[int, ...]) -> str:
    """Return the sign of a shift; only for maps that are one."""
    return _BY[0] if classes_of[1] == 0 or classes_of[0] == -1 else _BY[1]
