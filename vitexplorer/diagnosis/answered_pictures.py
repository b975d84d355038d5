"""Pictures of a proof as the model gets them, with the model's answers below."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from vitexplorer.core.check_up_results import AnsweredPicturesResult
from vitexplorer.core.text import Text
from vitexplorer.diagnosis.answers import Batch, Logits, probabilities
from vitexplorer.diagnosis.examination import Examination
from vitexplorer.diagnosis.sentences import share_text
from vitexplorer.diagnosis.subject import UNKNOWN

MOST = 4
"""Pictures of a proof"""
PICTURES = Text("pictures", "图像")
PROBABILITY = Text("probability of the answer", "回答的概率")
_ANSWERS = Text("What the model gets, and what it answers", "模型收到的图像与它的回答")
_MOST_LIKE = Text("What the model gets, and the class that it is most like", "模型收到的图像与最相似的类别")
_ANSWER = Text("{name}, {share}", "{name}，{share}")
_LIKE = Text("most like {name}, {share}", "最像{name}，{share}")
"""Words for a model without classes, whose features are compared with class means"""


def answered(
    exam: Examination, rows: np.ndarray, sides: Sequence[tuple[Text, Batch, Logits]]
) -> AnsweredPicturesResult:
    """Show rows of the data, each side with its heading, its tensors and the answers to them."""
    known = exam.subject.labels if exam.labels is None else exam.labels
    labels = None if known is None else known[rows]
    shares = [probabilities(logits) for _, _, logits in sides]
    answers = [share.argmax(1) for share in shares]
    values = np.stack([share.max(1) for share in shares])
    names = exam.subject.class_texts
    title, words = (_MOST_LIKE, _LIKE) if exam.has_no_classes else (_ANSWERS, _ANSWER)
    return AnsweredPicturesResult(
        view="check_up",
        title=title,
        values=values,
        axes=("sides", "images"),
        unit=PROBABILITY,
        formula="",
        provenance=exam.subject.model.provenance,
        headings=tuple(side for side, _, _ in sides),
        pixels=tuple(tuple(seen_pixels(exam, tensor) for tensor in batch) for _, batch, _ in sides),
        answers=tuple(
            tuple(
                words.format(name=class_text(names, int(answer)), share=share_text(share))
                for answer, share in zip(of, likeliest, strict=True)
            )
            for of, likeliest in zip(answers, values, strict=True)
        ),
        right=tuple(
            tuple(
                None if labels is None or labels[at] == UNKNOWN else bool(answer == labels[at])
                for at, answer in enumerate(of)
            )
            for of in answers
        ),
    )


def class_text(names: tuple[Text, ...], number: int) -> Text:
    """Return the name of a class, or its number where it has none."""
    return names[number] if 0 <= number < len(names) else Text("class {number}", "类别 {number}").format(number=number)


def seen_pixels(exam: Examination, tensor: Tensor) -> np.ndarray:
    """Return the pixels that the model takes a tensor for, uint8; what lies outside 0-255 is cut off."""
    preprocessing = exam.subject.model.preprocessing
    mean, std = (torch.tensor(numbers)[:, None, None] for numbers in (preprocessing.mean, preprocessing.std))
    return (255 * (tensor * std + mean)).round().clamp(0, 255).byte().permute(1, 2, 0).numpy()
