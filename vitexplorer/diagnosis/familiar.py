"""Check of the pictures against those that a bundled model was trained on, which can be drawn anew.

Two samples of features: the pictures given, and drawn ones that the model has never seen. A picture's strangeness is
the distance to its nearest drawn picture, of a drawn one to its nearest other. The share of pairs in which the given
picture is the stranger (Mann & Whitney 1947, U / (n m)) is 0.5 for pictures of the same kind and 1 for others.
Distances are between unit vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch
from jaxtyping import Float

from vitexplorer.core.text import Text
from vitexplorer.diagnosis.diagnosis import Finding
from vitexplorer.diagnosis.examination import Examination
from vitexplorer.diagnosis.features import features_of
from vitexplorer.diagnosis.sentences import NO_PICTURES, share_text
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.preprocess import normalise
from vitexplorer.scenes import draw_scene
from vitexplorer.scenes.creatures import Creature
from vitexplorer.scenes.several import draw_several

CAUSE, DOUBT = "unlike_training_data", "labels_doubtful"
DRAWN, LEAST = 64, 16
"""Drawn pictures, and fewest given ones"""
STRANGE = 0.8
"""Share of pairs from which the pictures are of another kind. Five bundled models had at most 0.63 for drawn pictures
of their kind, also grey, enlarged or of two classes, and at least 0.85 for photographs"""
GOOD = 0.8
"""Accuracy from which the kind of the pictures does not matter"""
_FIRST = 30_000  # earlier pictures serve as examples elsewhere
_KINDS: Mapping[str, Callable[[int, int], np.ndarray]] = {
    "scenes_several": lambda index, size: draw_several("examples", index, size).image,
    "scenes": lambda index, size: draw_scene("examples", index, size).image,
    "creatures": lambda index, size: Creature("examples", index, size).render(),
}
"""Function from number and side to a picture, by the beginning of a bundled model's name"""
_UNKNOWN = Text(
    "It is not known what pictures the model was trained on; for bundled models it is.",
    "不知道模型用什么图像训练；内置模型则是已知的。",
)
_FEW = Text(
    "The kind of the pictures is judged from {least} pictures on; there are {pictures}.",
    "至少需要 {least} 幅图像才能判断图像类型，现有 {pictures} 幅。",
)
_STRANGE = Text(
    "The pictures are unlike those that the model was trained on, which were drawn: in {share} of all pairs, a picture "
    "given here is the stranger of the two to the model.",
    "这些图像与模型的训练图像（合成图像）不同：在 {share} 的配对中，此处给出的图像对模型而言更陌生。",
)
_NO_JUDGE = Text(
    "The model does not know pictures of this kind, so it cannot doubt their labels.",
    "模型不认识这类图像，无法质疑其标签。",
)


def check_familiarity(exam: Examination) -> None:
    """Compare the pictures with drawn ones of the kind that a bundled model was trained on."""
    model = exam.subject.model
    draw = _kind_of(model)
    if exam.subject.fed is None:
        return exam.cannot_tell(CAUSE, NO_PICTURES)
    if draw is None:
        return exam.cannot_tell(CAUSE, _UNKNOWN)
    if len(exam.fed) < LEAST:
        return exam.cannot_tell(CAUSE, _FEW.format(least=LEAST, pictures=len(exam.fed)))
    exam.did_check(CAUSE)
    if exam.labels is not None and exam.judged().value >= GOOD:
        return None
    own = model.preprocessing
    pictures = [draw(_FIRST + number, own.input_size[0]) for number in range(DRAWN)]
    fed = torch.cat([normalise(picture, own.mean, own.std) for picture in pictures])
    share = share_farther(exam.features, features_of(model.module, fed, model.num_classes))
    if share >= STRANGE:
        evidence = {"share_of_pairs": share, "pictures": len(exam.fed), "drawn": DRAWN}
        text = _STRANGE.format(share=share_text(share))
        exam.findings = [finding for finding in exam.findings if finding.cause != DOUBT]
        exam.cannot_tell(DOUBT, _NO_JUDGE)
        exam.findings.append(Finding(CAUSE, text, 0.6 + 1.5 * (share - STRANGE), evidence=evidence))
    return None


def _kind_of(model: LoadedModel) -> Callable[[int, int], np.ndarray] | None:
    """Return how to draw pictures of the kind that a model was trained on; None where it is not bundled."""
    if model.provenance.weights != "bundled":
        return None
    return next((draw for name, draw in _KINDS.items() if model.name.startswith(f"{name}_")), None)


def share_farther(given: Float[np.ndarray, "given dim"], familiar: Float[np.ndarray, "familiar dim"]) -> float:
    """Return the share of pairs in which the given picture is farther from its nearest familiar one."""
    first, second = (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9) for rows in (given, familiar))
    among = second @ second.T
    np.fill_diagonal(among, -2.0)
    strangeness: Float[np.ndarray, " given"] = -(first @ second.T).max(1)
    usual: Float[np.ndarray, " familiar"] = -among.max(1)
    return float((strangeness[:, None] > usual).mean() + 0.5 * (strangeness[:, None] == usual).mean())
