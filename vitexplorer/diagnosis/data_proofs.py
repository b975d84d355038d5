"""Proofs of findings in a data set: copies, doubtful labels, the commonest and the rarest classes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from torch import Tensor

from vitexplorer.core.check_up_results import AnsweredPicturesResult
from vitexplorer.core.settings import settings
from vitexplorer.core.text import Text, same
from vitexplorer.core.types import Result
from vitexplorer.diagnosis.answered_pictures import MOST, PICTURES, PROBABILITY, answered, class_text, seen_pixels
from vitexplorer.diagnosis.diagnosis import Finding
from vitexplorer.diagnosis.examination import Examination
from vitexplorer.diagnosis.subject import UNKNOWN
from vitexplorer.models.images import AnyImage, ImageError, OpenedImage, open_shrunk

_SIDE = 320
"""Shorter side of a picture of the data, in pixels"""
_COPIES = Text("Pictures that are there twice", "重复出现的图像")
_DOUBTFUL = Text("Pictures whose label is doubtful", "标签可疑的图像")
_LABELLED = Text("label {label}, rather {other}", "标签为{label}，更像{other}")
_BALANCE = Text("The commonest and the rarest classes", "最多与最少的类别")
_COMMONEST, _RAREST = Text("commonest", "最多"), Text("rarest", "最少")
_PICTURE, _COPY = Text("picture", "图像"), Text("its copy", "其副本")
_COUNTED = Text("{name}: {count}", "{name}：{count}")


def copies(exam: Examination, finding: Finding) -> Result | None:
    """Show the first groups of copies, a picture above its copy."""
    pairs = [group[:2] for group in finding.evidence["places"][:MOST]]
    names = [group[:2] for group in finding.evidence["groups"][:MOST]]
    words = [[same(name) for name in side] for side in zip(*names, strict=True)]
    images = [exam.subject.root / file for file in exam.subject.files] or list(exam.subject.pictures)
    sides = [[images[at] for at in side] for side in zip(*pairs, strict=True)]
    return _in_two_rows(exam, _COPIES, (_PICTURE, _COPY), sides, words)


def doubtful(exam: Examination, finding: Finding) -> Result:
    """Show the first pictures with a doubtful label, with the other class."""
    rows = np.array(finding.evidence["rows"][:MOST])
    others = finding.evidence["suggested"][:MOST]
    names = exam.subject.class_texts
    result = answered(exam, rows, [(PICTURES, exam.feed(exam.fed[rows]), exam.logits()[rows])])
    assert exam.labels is not None
    words = (
        _LABELLED.format(label=class_text(names, int(label)), other=class_text(names, int(other)))
        for label, other in zip(exam.labels[rows], others, strict=True)
    )
    return replace(result, title=_DOUBTFUL, answers=(tuple(words),))


def balance(exam: Examination, finding: Finding) -> Result | None:
    """Show a picture of each of the commonest classes above one of each of the rarest, with the number of pictures."""
    subject = exam.subject
    classes = np.array(subject.folders) if subject.folders else subject.labels
    assert classes is not None
    names, firsts, counts = np.unique(classes, return_index=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    if not subject.folders:
        order = order[names[order] != UNKNOWN]
    most = min(MOST, len(order) // 2)
    sides = (order[:most], order[::-1][:most])
    words = [
        [_COUNTED.format(name=_class_name(exam, names[at]), count=int(counts[at])) for at in side] for side in sides
    ]
    images = [subject.root / file for file in subject.files] if subject.folders else subject.pictures or exam.fed
    pictures = [[images[at] for at in firsts[side]] for side in sides]
    return _in_two_rows(exam, _BALANCE, (_COMMONEST, _RAREST), pictures, words)


def _class_name(exam: Examination, name: np.generic) -> Text:
    return same(str(name)) if exam.subject.folders else class_text(exam.subject.class_texts, int(name))


def _in_two_rows(
    exam: Examination,
    title: Text,
    headings: tuple[Text, Text],
    pictures: Sequence[Sequence[AnyImage | Tensor]],
    words: Sequence[Sequence[Text]],
) -> Result | None:
    """Show pictures of the data, files, images or tensors as fed, with words below; None where a file is gone."""
    try:
        pixels = tuple(tuple(_pixels(exam, picture) for picture in side) for side in pictures)
    except ImageError:
        return None
    count = len(pictures[0])
    return AnsweredPicturesResult(
        view="check_up",
        title=title,
        values=np.full((2, count), np.nan),
        axes=("sides", "images"),
        unit=PROBABILITY,
        formula="",
        provenance=exam.subject.model.provenance,
        headings=headings,
        pixels=pixels,
        answers=tuple(map(tuple, words)),
        right=((None,) * count,) * 2,
    )


def _pixels(exam: Examination, picture: AnyImage | Tensor) -> np.ndarray:
    if isinstance(picture, Tensor):
        return seen_pixels(exam, exam.feed(picture[None])[0])
    if isinstance(picture, str | os.PathLike):
        pixels = open_shrunk(picture, _SIDE, max_megapixels=settings().max_megapixels).pixels
    else:
        pixels = OpenedImage.of(picture).pixels
    step = max(1, max(pixels.shape[:2]) // (2 * _SIDE))
    return pixels[::step, ::step]
