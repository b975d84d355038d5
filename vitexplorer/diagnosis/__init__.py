"""Check-up of a model: why it does not work here, with the evidence, and a repair that was tried.

    report = vx.diagnose("scenes_vit_patch16_192", "folder", preprocess=transform)
    print(report)
    report.findings[0].repaired     # a callable, a list of labels, a state dict or a model

The checks only run the model forwards; it is never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from vitexplorer.core.text import Text
from vitexplorer.diagnosis.causes import CAUSES
from vitexplorer.diagnosis.conversion import check_conversion
from vitexplorer.diagnosis.cropping import check_cropping
from vitexplorer.diagnosis.data_checks import check_data, check_doubtful_labels
from vitexplorer.diagnosis.diagnosis import Diagnosis, Finding
from vitexplorer.diagnosis.examination import Examination, Watch
from vitexplorer.diagnosis.familiar import CAUSE as FAMILIARITY
from vitexplorer.diagnosis.familiar import check_familiarity
from vitexplorer.diagnosis.feeding import check_feeding
from vitexplorer.diagnosis.heads import check_collapse, check_heads
from vitexplorer.diagnosis.labels import check_labels
from vitexplorer.diagnosis.loading import check_classifier, check_weights
from vitexplorer.diagnosis.positions import check_positions
from vitexplorer.diagnosis.prefix import check_prefix
from vitexplorer.diagnosis.proofs import proof_of
from vitexplorer.diagnosis.sentences import FEW, LEAST, NO_ANSWERS, NO_CLASSES, NO_MODEL, NO_PICTURES, NO_WEIGHTS
from vitexplorer.diagnosis.subject import Preprocess, subject_of
from vitexplorer.diagnosis.training import check_training

__all__ = ["CAUSES", "Diagnosis", "Finding", "diagnose"]

_WITHOUT_ANSWERS = (
    "weights_not_loaded",
    "half_loaded",
    "positions_missing",
    "prefix_token_missing",
    "dead_heads",
    "collapsed",
    "duplicates",
    "leak_between_splits",
    "imbalanced",
    "rate_too_high",
    "nothing_trains",
    "unlike_training_data",
)
"""Causes that are told without judging answers"""
READER = "scenes_dino_patch16_192"
"""Bundled model whose features are read where no model is given"""
WEIGHTS, DATA = Text("weights", "权重"), Text("heads and data", "注意力头与数据")
OF_ANSWERS: Mapping[Text, Callable[[Examination], None]] = {
    Text("pictures", "图像"): check_feeding,
    Text("labels", "标签"): check_labels,
    Text("crops", "裁剪"): check_cropping,
    Text("conversion of the weights", "权重转换"): check_conversion,
    Text("classifier", "分类头"): check_classifier,
    Text("doubtful labels", "可疑标签"): check_doubtful_labels,
}
"""Parts that judge the model's answers, and their checks"""
PARTS = (WEIGHTS, *OF_ANSWERS, DATA)
"""Parts of a check-up in their order, by the name that a watcher gets"""


def diagnose(
    model: Any,
    data: Any = None,
    labels: Any = None,
    preprocess: Preprocess | None = None,
    training: Any = None,
    seconds: float = 60,
    *,
    watch: Watch | None = None,
) -> Diagnosis:
    """Find out why a model does not work on some pictures.

    Args:
        model: a name or path as `load_model` takes it, a loaded or wrapped model, or a module that `wrap` takes. None:
            the pictures and labels alone are judged, by the features of a bundled model.
        data: a folder, a list of images (paths, PIL images, uint8 arrays), a float tensor (pictures, 3, height, width)
            as it is fed to the model today, or batches of such tensors, alone or with labels. None: weights alone.
        labels: the class of each picture as its owner believes: numbers, names of classes, or a .csv of file names and
            labels. None with a folder: the names of its class folders.
        preprocess: the caller's own preprocessing, from a PIL image to a float tensor (3, height, width); None for the
            model's own.
        training: a result of `finetune` or its folder; or a list with a mapping for each of the first steps of a
            training, from the name of a parameter to the norm of its update and its own norm before.
        seconds: time to aim for; what is left out when it runs short is undecided.
        watch: called with the name of the part at work, before it begins and before each pass; an error that it raises
            stops the check-up.

    Returns:
        The findings, surest first, and which causes could not be told and why.

    Raises:
        SettingError: an argument is of a kind that cannot be used.
        DataError: a folder without pictures.
        ImageError: none of the pictures can be opened.
    """
    subject = subject_of(READER if model is None else model, data, labels, preprocess)
    exam = Examination(subject, seconds, watch)
    if model is None:
        return _of_data_alone(exam)
    exam.begin(WEIGHTS)
    check_weights(exam)
    check_positions(exam)
    check_prefix(exam)
    if _can_answer(exam):
        for part, check in OF_ANSWERS.items():
            exam.begin(part)
            check(exam)
    exam.begin(DATA)
    check_heads(exam)
    if exam.subject.fed is not None and len(exam.fed) >= LEAST:
        check_collapse(exam)
    check_familiarity(exam)
    check_data(exam)
    check_training(exam, training)
    return report_of(exam)


def _of_data_alone(exam: Examination) -> Diagnosis:
    exam.cannot_tell([key for key, cause in CAUSES.items() if cause.group != "data"], NO_MODEL)
    exam.cannot_tell(FAMILIARITY, NO_MODEL)
    exam.begin(Text("data", "数据"))
    if _can_answer(exam):
        check_doubtful_labels(exam)
    check_data(exam)
    return replace(report_of(exam), model="")


def _can_answer(exam: Examination) -> bool:
    """Return True if there are pictures, loaded weights and classes to answer with; note the reason if not."""
    fed = exam.subject.fed
    if fed is None:
        reason = NO_PICTURES
    elif any(finding.cause == "weights_not_loaded" for finding in exam.findings):
        reason = NO_WEIGHTS
    elif exam.subject.model.num_classes == 1:
        reason = NO_ANSWERS
    elif exam.has_no_classes and not exam.has_class_means:
        reason = NO_CLASSES
    elif len(fed) < LEAST:
        reason = FEW.format(pictures=len(fed))
    else:
        return True
    exam.cannot_tell([cause for cause in CAUSES if cause not in _WITHOUT_ANSWERS], reason)
    return False


def report_of(exam: Examination) -> Diagnosis:
    """Return the result of a check-up."""
    found = {finding.cause for finding in exam.findings}
    fed = exam.subject.fed
    findings = sorted(exam.findings, key=lambda finding: -finding.certainty)
    return Diagnosis(
        model=exam.subject.model.name,
        findings=tuple(replace(finding, proof=finding.proof or proof_of(exam, finding)) for finding in findings),
        undecided={cause: why for cause, why in exam.undecided.items() if cause not in found},
        checked=tuple(dict.fromkeys(cause for cause in exam.checked if cause not in exam.undecided or cause in found)),
        pictures=0 if fed is None else len(fed),
        seconds=exam.spent,
        proof=None if findings else proof_of(exam, None),
    )
