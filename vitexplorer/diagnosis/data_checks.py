"""Check of the pictures themselves: copies, leaks between splits, balance, doubtful labels, strangeness.

Copies are those of `finetune.data.duplicates`: identical pictures and near duplicates by a difference hash.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from vitexplorer.core.settings import settings
from vitexplorer.core.text import Text
from vitexplorer.diagnosis.answers import probabilities
from vitexplorer.diagnosis.diagnosis import Finding
from vitexplorer.diagnosis.examination import Examination
from vitexplorer.diagnosis.features import probe_predictions
from vitexplorer.diagnosis.sentences import FEW, LEAST, NO_LABELS, NO_PICTURES
from vitexplorer.diagnosis.subject import UNKNOWN, Subject
from vitexplorer.finetune.data.duplicates import Group, components, difference_hash, exact_groups, near_groups
from vitexplorer.models.images import ImageError, image_hash, open_shrunk

IMBALANCE = 10
"""Ratio of the commonest to the rarest class from which classes are imbalanced"""
_SIDE = 64
_NEIGHBOURS = 5
_LEAST_DOUBTFUL, _DOUBTFUL_SHARE = 3, 0.03
_SURE, _UNLIKELY = 0.95, 0.005
"""Probability of the other class, and of the label, at which the model contradicts a label"""
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
    "{count:label is/labels are} doubtful: a probe, the nearest pictures and the model agree on another class.",
    "{count} 个标签可疑：探针、最相近的图像与模型都给出另一个类别。",
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
        exam.findings.append(
            Finding(
                "duplicates",
                _DUPLICATES.format(copies=copies, first=names[groups[0][1]]),
                min(0.99, 0.7 + 3 * copies / len(images)),
                evidence={"groups": [[names[at] for at in group] for group in groups[:50]], "pictures": len(images)},
            )
        )
    if not subject.splits:
        return exam.cannot_tell("leak_between_splits", _SPLIT_WITHOUT)
    exam.did_check("leak_between_splits")
    across = [group for group in groups if len({subject.splits[at] for at in group}) > 1]
    if across:
        copies = sum(len(group) - 1 for group in across)
        exam.findings.append(
            Finding(
                "leak_between_splits",
                _LEAK.format(copies=copies, first=names[across[0][-1]]),
                0.995,
                evidence={"groups": [[names[at] for at in group] for group in across[:50]], "pictures": len(images)},
            )
        )
    return None


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
    names = np.array(subject.folders) if subject.folders else subject.labels
    if names is None:
        return exam.cannot_tell("imbalanced", NO_LABELS)
    exam.did_check("imbalanced")
    counts = np.unique(names, return_counts=True)[1]
    most, least = int(counts.max()), int(counts.min())
    if len(counts) > 1 and most >= IMBALANCE * least:
        exam.findings.append(
            Finding(
                "imbalanced",
                _IMBALANCED.format(most=most, least=least),
                0.9,
                evidence={"most": most, "least": least, "classes": len(counts)},
            )
        )
    return None


def check_doubtful_labels(exam: Examination) -> None:
    """Name pictures whose label a probe, their neighbours and a sure model contradict.

    All three read the same features, so a model that is often wrong would find many: there must be at least three such
    pictures, and three in a hundred.
    """
    labels = exam.labels
    if labels is None:
        return exam.cannot_tell("labels_doubtful", NO_LABELS if exam.subject.labels is None else _AT_CHANCE)
    known = np.flatnonzero(labels != UNKNOWN)
    if len(known) < 4 * LEAST:
        return exam.cannot_tell("labels_doubtful", FEW.format(pictures=len(known)))
    features = exam.features[known]
    predicted = probe_predictions(features, labels[known])
    if predicted is None:
        return exam.cannot_tell("labels_doubtful", FEW.format(pictures=len(known)))
    exam.did_check("labels_doubtful")
    near = _neighbours(features)
    agree = (labels[known][near] == predicted[:, None]).all(1)
    chances, own = probabilities(exam.logits()[known]), labels[known]
    rows, inside = np.arange(len(known)), (own >= 0) & (own < chances.shape[1]) & (predicted < chances.shape[1])
    of_label, of_other = (chances[rows, np.where(inside, classes, 0)] for classes in (own, predicted))
    doubtful = inside & agree & (predicted != own) & (of_other > _SURE) & (of_label < _UNLIKELY)
    count = int(doubtful.sum())
    if count >= max(_LEAST_DOUBTFUL, _DOUBTFUL_SHARE * len(known)):
        exam.findings.append(
            Finding(
                "labels_doubtful",
                _DOUBTFUL.format(count=count),
                min(0.95, 0.6 + 4 * count / len(known)),
                evidence={
                    "pictures": len(known),
                    "rows": known[doubtful].tolist(),
                    "suggested": predicted[doubtful].tolist(),
                },
            )
        )
    return None


def _neighbours(features: np.ndarray) -> np.ndarray:
    """Return the nearest pictures of each, by cosine of features, (images, neighbours)."""
    unit = features / np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1e-9)
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, -2)
    return np.argsort(-cosines, axis=1)[:, :_NEIGHBOURS]
