"""Check of the pictures themselves: copies, leaks between splits, balance, doubtful labels, strangeness.

Copies are those of `finetune.data.duplicates`: identical pictures and near duplicates by a difference hash.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vitexplorer.core.settings import settings
from vitexplorer.core.text import Text
from vitexplorer.diagnosis.answers import probabilities
from vitexplorer.diagnosis.diagnosis import Finding
from vitexplorer.diagnosis.examination import Examination
from vitexplorer.diagnosis.features import probe_predictions, rows_for_probe
from vitexplorer.diagnosis.sentences import FEW, LEAST, NO_LABELS, NO_PICTURES
from vitexplorer.diagnosis.subject import UNKNOWN, Subject
from vitexplorer.finetune.data.duplicates import Group, components, difference_hash, exact_groups, near_groups
from vitexplorer.models.images import ImageError, image_hash, open_shrunk

IMBALANCE = 10
"""Ratio of the commonest to the rarest class from which classes are imbalanced"""
_SIDE, _MOST_GROUPS = 64, 50
_LEAST_DOUBTFUL, _DOUBTFUL_SHARE = 3, 0.03
"""Fewest doubtful labels of a finding, also as a share: of 50 healthy sets of 64 pictures, one had two"""
_SURE, _UNLIKELY = 0.9, 0.1
"""Least probability of a sure answer, and most of its label as a multiple of the usual one"""
_SPLIT_WITHOUT = Text("The data have no splits.", "数据没有划分。")
_ONLY_TENSORS = Text(
    "Copies are looked for in pictures, and there are only tensors.", "只有张量，无法在图像中查找重复。"
)
_DUPLICATES = Text(
    "{copies:picture is/pictures are} copies of another, exact or nearly so; the first is {first}.",
    "{copies} 幅图像与另一幅相同或近似，第一幅是 {first}。",
)
_LEAK = Text(
    "{copies:picture is/pictures are} in two splits, exactly or nearly the same; the first is {first}.",
    "{copies} 幅图像同时出现在两个划分中（相同或近似），第一幅是 {first}。",
)
_IMBALANCED = Text(
    "The commonest class has {most:picture}, the rarest {least}: one can score well without knowing the rare ones.",
    "最多的类别有 {most} 幅图像，最少的只有 {least} 幅：分类器不认识少数类别也能得高分。",
)
_AT_CHANCE = Text("The labels agree with the answers no better than chance.", "标签与回答的一致程度不高于随机。")
_DOUBTFUL = Text(
    "{count:label is/labels are} doubtful: a probe and the model agree on another class, and the model is sure of it.",
    "{count} 个标签可疑：探针与模型都给出另一个类别，且模型很有把握。",
)


def check_data(exam: Examination) -> None:
    """Look for copies, leaks and imbalance."""
    subject = exam.subject
    if subject.fed is None:
        return exam.cannot_tell(("duplicates", "leak_between_splits", "imbalanced", "labels_doubtful"), NO_PICTURES)
    _check_copies(exam, subject)
    _check_balance(exam, subject)
    return None


def _check_copies(exam: Examination, subject: Subject) -> None:
    names = [str(file) for file in subject.files] or [_name(image, at) for at, image in enumerate(subject.pictures)]
    images = [subject.root / file for file in subject.files] or list(subject.pictures)
    if not images:
        return exam.cannot_tell(("duplicates", "leak_between_splits"), _ONLY_TENSORS)
    groups = _copies(images)
    exam.did_check("duplicates")
    if groups:
        copies = sum(len(group) - 1 for group in groups)
        text = _DUPLICATES.format(copies=copies, first=names[groups[0][1]])
        certainty = min(0.99, 0.7 + 3 * copies / len(images))
        exam.findings.append(Finding("duplicates", text, certainty, evidence=_of_groups(groups, names)))
    if not subject.splits:
        return exam.cannot_tell("leak_between_splits", _SPLIT_WITHOUT)
    exam.did_check("leak_between_splits")
    across = [group for group in groups if len({subject.splits[at] for at in group}) > 1]
    if across:
        copies = sum(len(group) - 1 for group in across)
        text = _LEAK.format(copies=copies, first=names[across[0][-1]])
        exam.findings.append(Finding("leak_between_splits", text, 0.995, evidence=_of_groups(across, names)))
    return None


def _of_groups(groups: Sequence[Group], names: Sequence[str]) -> dict[str, Any]:
    """Return the evidence of copies: the names of the first groups, their places in the data, and its size."""
    first = groups[:_MOST_GROUPS]
    return {
        "groups": [[names[at] for at in group] for group in first],
        "places": [list(group) for group in first],
        "pictures": len(names),
    }


def _name(image: object, at: int) -> str:
    return Path(image).name if isinstance(image, str | Path) else f"picture {at}"


def _copies(images: Sequence) -> list[Group]:
    """Return groups of pictures that are the same, exactly or nearly."""
    digests, hashes, places = [], [], []
    for at, image in enumerate(images):
        try:
            digest, pixels = _thumbnail(image)
        except ImageError:
            continue
        digests.append(digest)
        hashes.append(difference_hash(pixels))
        places.append(at)
    links = [(group[0], other) for group in (*exact_groups(digests), *near_groups(hashes)) for other in group[1:]]
    together = exact_groups(components(len(places), links))
    return [tuple(places[at] for at in group) for group in together]


def _thumbnail(image: object) -> tuple[str, np.ndarray]:
    if isinstance(image, str | Path):
        opened = open_shrunk(image, _SIDE, max_megapixels=settings().max_megapixels)
        return opened.digest, opened.pixels
    pixels = np.asarray(image.convert("RGB") if hasattr(image, "convert") else image)
    return image_hash(pixels), pixels


def _check_balance(exam: Examination, subject: Subject) -> None:
    labels = subject.labels
    if not subject.folders and labels is None:
        return exam.cannot_tell("imbalanced", NO_LABELS)
    exam.did_check("imbalanced")
    classes = np.array(subject.folders) if subject.folders else labels[labels != UNKNOWN]
    counts = np.unique(classes, return_counts=True)[1]
    if len(counts) > 1 and counts.max() >= IMBALANCE * counts.min():
        most, least = int(counts.max()), int(counts.min())
        evidence = {"most": most, "least": least, "classes": len(counts)}
        exam.findings.append(Finding("imbalanced", _IMBALANCED.format(most=most, least=least), 0.9, evidence=evidence))
    return None


def check_doubtful_labels(exam: Examination) -> None:
    """Name pictures to which the model and a probe give another class than their label, and the model is sure of it.

    Sure is as in confident learning (Northcutt, Jiang & Chuang 2021, arXiv 1911.00068): the answer is at least as
    likely as it is on average for pictures of its class. It must also be likely in itself, and the label less than a
    tenth as likely as on average. Labels of fewer pictures than a probe's cross-validation needs are left out.
    """
    labels = exam.labels
    if labels is None:
        return exam.cannot_tell("labels_doubtful", NO_LABELS if exam.subject.labels is None else _AT_CHANCE)
    known = rows_for_probe(labels)
    if len(known) < 4 * LEAST:
        return exam.cannot_tell("labels_doubtful", FEW.format(pictures=len(known)))
    own, chances = labels[known], probabilities(exam.logits()[known])
    predicted = probe_predictions(exam.features[known], own)
    if predicted is None:
        return exam.cannot_tell("labels_doubtful", FEW.format(pictures=len(known)))
    exam.did_check("labels_doubtful")
    doubtful = _surely_others(chances, own) & (predicted == chances.argmax(1))
    count = int(doubtful.sum())
    if count >= max(_LEAST_DOUBTFUL, _DOUBTFUL_SHARE * len(known)):
        certainty = min(0.95, 0.6 + 4 * count / len(known))
        rows, others = known[doubtful].tolist(), predicted[doubtful].tolist()
        evidence = {"pictures": len(known), "rows": rows, "suggested": others}
        exam.findings.append(Finding("labels_doubtful", _DOUBTFUL.format(count=count), certainty, evidence=evidence))
    return None


def _surely_others(chances: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return True for each picture whose answer is surely another class than its label."""
    rows, answers = np.arange(len(labels)), chances.argmax(1)
    inside = (labels >= 0) & (labels < chances.shape[1])
    of_label = np.where(inside, chances[rows, np.where(inside, labels, 0)], 0.0)
    of_class = [of_label[labels == each] for each in range(chances.shape[1])]
    usual = np.array([each.mean() if len(each) else of_label.mean() for each in of_class])
    is_sure = chances.max(1) >= np.maximum(usual[answers], _SURE)
    is_unlikely = of_label < _UNLIKELY * usual[np.where(inside, labels, 0)]
    return inside & (answers != labels) & is_sure & is_unlikely
