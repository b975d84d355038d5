"""Proofs of a check-up's findings: the same pictures, labels or positions before a repair and after it."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from vitexplorer.core.check_up_results import TwoMatricesResult
from vitexplorer.core.text import Text
from vitexplorer.core.types import Result
from vitexplorer.diagnosis.alternatives import position_table
from vitexplorer.diagnosis.answered_pictures import MOST, PICTURES, answered, class_text
from vitexplorer.diagnosis.answers import Logits, Run, probabilities, run_of
from vitexplorer.diagnosis.data_proofs import balance, copies, doubtful
from vitexplorer.diagnosis.diagnosis import Finding
from vitexplorer.diagnosis.examination import Examination
from vitexplorer.diagnosis.feeds import AS_FED
from vitexplorer.models.loading import LoadedModel

BEFORE, AFTER = Text("as it is", "现状"), Text("repaired", "修复后")
_CONFUSION = Text("Labels and answers", "标签与回答")
_POSITIONS = Text("Similarity of one place to all others", "一个位置与所有位置的相似度")


def proof_of(exam: Examination, finding: Finding | None) -> Result | None:
    """Return the figure that proves a finding; of a healthy model, for None, some of its answers.

    None where there is nothing to draw.
    """
    make = _MAKERS.get(finding.cause) if finding else None
    if finding is not None and make is not None:
        return make(exam, finding)
    return _answers_as_they_are(exam)


# ----------------------------------------------------------------------------------------------- pictures


def _answers_as_they_are(exam: Examination) -> Result | None:
    """Show a few pictures with the model's answers; of labels, one for each."""
    if exam.subject.fed is None or exam.subject.num_classes < 2 or (exam.has_no_classes and not exam.has_class_means):
        return None
    labels = exam.labels
    count = len(exam.fed)
    rows = np.unique(np.linspace(0, count - 1, MOST).round().astype(int))
    if labels is not None:
        rows = np.sort(np.unique(labels, return_index=True)[1][:MOST])
    return answered(exam, rows, [(PICTURES, exam.feed(exam.fed[rows]), exam.logits()[rows])])


def _feeding(exam: Examination, finding: Finding) -> Result:
    """Show pictures as they are fed and as they should be."""
    before, after = exam.logits(AS_FED), exam.logits(exam.feed)
    rows = _most_gained(exam, before, after)
    fed = exam.fed[rows]
    return answered(exam, rows, [(BEFORE, fed, before[rows]), (AFTER, exam.feed(fed), after[rows])])


def _cropping(exam: Examination, finding: Finding) -> Result:
    """Show pictures as they are cut and as they should be."""
    rows = exam.few
    usual = exam.feed(exam.fed[rows])
    other = torch.stack([finding.repaired(exam.subject.pictures[row]) for row in rows])
    before, after = exam.answers(exam.run, usual, rows), exam.answers(exam.run, other, rows)
    chosen = _most_gained(exam, before, after, rows)
    sides = [(BEFORE, usual[chosen], before[chosen]), (AFTER, other[chosen], after[chosen])]
    return answered(exam, rows[chosen], sides)


def _conversion(exam: Examination, finding: Finding) -> Result | None:
    """Show the answers with the weights as they are and as they should be read; of positions in no order, the table."""
    if finding.repaired is None:
        return _positions(exam, finding)
    rows = exam.few
    fed = exam.feed(exam.fed[rows])
    before, after = exam.logits()[rows], exam.answers(_repaired_run(exam, finding.repaired), fed, rows)
    chosen = _most_gained(exam, before, after, rows)
    sides = [(BEFORE, fed[chosen], before[chosen]), (AFTER, fed[chosen], after[chosen])]
    return answered(exam, rows[chosen], sides)


def _repaired_run(exam: Examination, repaired: LoadedModel | dict[str, Tensor]) -> Run:
    if isinstance(repaired, LoadedModel):
        return run_of(repaired.module)
    module = copy.deepcopy(exam.subject.model.module)
    module.load_state_dict(repaired)
    return run_of(module)


def _most_gained(exam: Examination, before: Logits, after: Logits, rows: np.ndarray | None = None) -> np.ndarray:
    """Return the pictures whose answer gains most, in their order; of labels, the label's probability."""
    rows = np.arange(len(before)) if rows is None else rows
    answers = after.argmax(1) if exam.labels is None else np.clip(exam.labels[rows], 0, after.shape[1] - 1)
    places = np.arange(len(before))
    gains = probabilities(after)[places, answers] - probabilities(before)[places, answers]
    return np.sort(np.argsort(-gains, kind="stable")[:MOST])


# ----------------------------------------------------------------------------------------------- matrices


def _confusion(exam: Examination, finding: Finding) -> Result | None:
    """Count answers by label, as believed and as mapped."""
    believed, mapped = exam.subject.labels, np.array(finding.repaired)
    classes, answers = exam.subject.model.num_classes, exam.logits().argmax(1)
    if believed is None:
        return None
    values = np.zeros((2, classes, classes), int)
    for side, labels in enumerate((believed, mapped)):
        inside = (labels >= 0) & (labels < classes)
        np.add.at(values[side], (labels[inside], answers[inside]), 1)
    used = np.flatnonzero(values.sum((0, 1)) + values.sum((0, 2)))
    names = exam.subject.model.class_texts
    return TwoMatricesResult(
        view="check_up",
        title=_CONFUSION,
        values=values[:, used][:, :, used],
        axes=("sides", "classes", "classes"),
        unit=Text("pictures", "图像数"),
        formula="",
        provenance=exam.subject.model.provenance,
        headings=(BEFORE, AFTER),
        names=tuple(class_text(names, int(number)) for number in used),
        axis_names=(Text("label", "标签"), Text("answer", "回答")),
    )


def _positions(exam: Examination, finding: Finding) -> Result | None:
    """Compare the position embedding of a place above the middle with all others, before and, if mended, after."""
    model = exam.subject.model
    table = position_table(model)
    if table is None:
        return None
    name, before, (rows, cols) = table
    tables = [before, finding.repaired[name]] if isinstance(finding.repaired, dict) else [before]
    place = (rows // 3) * cols + cols // 2
    maps = [_cosines(values[0, -rows * cols :].float(), place).reshape(rows, cols) for values in tables]
    return TwoMatricesResult(
        view="check_up",
        title=_POSITIONS,
        values=np.stack(maps),
        axes=("sides", "rows", "cols"),
        unit=Text("cosine", "余弦"),
        formula="",
        provenance=model.provenance,
        headings=(BEFORE, AFTER)[: len(tables)],
        axis_names=(Text("row", "行"), Text("column", "列")),
    )


def _cosines(patches: Tensor, place: int) -> np.ndarray:
    unit = torch.nn.functional.normalize(patches, dim=1)
    return (unit @ unit[place]).numpy()


_Make = Callable[[Examination, Finding], Result | None]
_MAKERS: dict[str, _Make] = {
    **dict.fromkeys(("wrong_normalisation", "scaled_twice", "not_scaled", "channels_swapped"), _feeding),
    **dict.fromkeys(("axes_swapped", "rotated", "flipped"), _feeding),
    "wrong_size_or_crop": _cropping,
    **dict.fromkeys(("labels_permuted", "labels_shifted", "labels_sorted_as_text"), _confusion),
    **dict.fromkeys(("positions_transposed", "positions_badly_resampled", "prefix_tokens_among_patches"), _positions),
    "positions_missing": _positions,
    **dict.fromkeys(("qkv_misordered", "scale_missing", "heads_miscounted", "positions_shuffled"), _conversion),
    **dict.fromkeys(("duplicates", "leak_between_splits"), copies),
    "imbalanced": balance,
    "labels_doubtful": doubtful,
}
"""Proofs of causes; the others show answers as they are"""
