"""Check of weights: tensors that look as if they had just been initialised.

A fresh vector holds one number throughout: norms begin as 1, biases as 0, layer scales as one small number. A fresh
matrix has independent, identically distributed entries, normal or uniform. Then row and column norms vary no more than
chance allows, and the largest singular value is the edge of the Marchenko-Pastur law, std (sqrt(rows) + sqrt(columns))
(Marchenko & Pastur 1967). Training changes all of that: in the bundled models the largest singular value of nearly
every matrix is above 1.1 of the edge, and in fresh models of timm it is below 1.03.

Only tensors of blocks are judged. A classifier is judged by its answers: that of a fine-tuned model may hardly have
moved from where it began.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np
import torch
from torch import Tensor

from vitexplorer.core.text import Text
from vitexplorer.diagnosis.answers import Logits, probabilities, run_of
from vitexplorer.diagnosis.conversion import CAUSES as OF_CONVERSION
from vitexplorer.diagnosis.diagnosis import Finding
from vitexplorer.diagnosis.examination import Examination
from vitexplorer.diagnosis.features import Features, classifiers_of, probe_accuracy, read_by, rows_for_probe
from vitexplorer.diagnosis.feeding import CAUSES as OF_FEED
from vitexplorer.diagnosis.label_maps import is_above_chance
from vitexplorer.diagnosis.sentences import FEW, LEAST, NO_ANSWERS, NO_PICTURES, NO_TIME, share_text
from vitexplorer.models.loading import LoadedModel

CAUSES = ("weights_not_loaded", "half_loaded", "head_not_loaded")
ALL, MANY = 0.9, 0.03
"""Shares of fresh tensors from which nothing was loaded, and only a part"""
FEW_RIGHT = 0.4
"""Accuracy, as a share of a probe's, up to which a classifier is not that of its features. Features that part the
classes well lift a fresh one above chance: it gives each of them some class"""
LIKE_A_PROBE = 0.75
"""Accuracy by permuted labels, as a share of a probe's, from which the classifier is right. With 12 permutations it was
at least 0.98, with 12 fresh classifiers at most 0.61"""
_LEAST_SIDE = 16
_LEAST_VECTOR = 8
_UNIFORM, _NORMAL = -1.2, 0.0
_SIGNS = ("k_proj.bias", "key.bias", "k.bias")
"""Biases that may stay at 0 for good: a softmax does not change with them"""

_RANDOM = Text(
    "The weights are random, as was asked for: nothing was learned, and the answers mean nothing.",
    "权重按要求为随机值：模型什么也没有学到，回答没有意义。",
)
_NONE = Text(
    "The weights are those of a fresh initialisation: {fresh} of {all} tensors in the blocks never changed.",
    "权重仍是初始值：各块中 {all} 个张量有 {fresh} 个从未改变。",
)
_HALF = Text(
    "A part of the weights was not loaded: {fresh} of {all} tensors in the blocks are those of a fresh initialisation, "
    "{first} first.",
    "部分权重没有加载：各块中 {all} 个张量有 {fresh} 个仍是初始值，第一个是 {first}。",
)
_HEAD = Text(
    "The classifier{name} was not loaded: it answers {before} of the pictures right, and a linear probe on the "
    "features that it reads {probe}.",
    "分类头{name}没有加载：回答正确率为 {before}，而同一特征上的线性探针达到 {probe}。",
)
_HEAD_UNSURE = Text(
    "A classifier is judged by its answers, which takes pictures and labels.", "评判分类头需要图像与标签。"
)
_NO_WEIGHTS = Text("The blocks have no weights of a known kind.", "各块中没有可识别的权重。")


def check_weights(exam: Examination) -> None:
    """Look for fresh tensors in the blocks."""
    model = exam.subject.model
    tensors = block_tensors(model)
    fresh, total = fresh_tensors(tensors)
    if not total:
        return exam.cannot_tell(CAUSES[:2], _NO_WEIGHTS)
    exam.did_check(CAUSES[:2])
    share = len(fresh) / total
    matrices = {name for name, tensor in tensors.items() if tensor.ndim > 1}  # torch draws biases too
    evidence = {"fresh": len(fresh), "tensors": total, "names": fresh[:20]}
    if model.provenance.weights == "random":
        exam.findings.append(Finding("weights_not_loaded", _RANDOM, 1.0, evidence=evidence))
    elif share >= ALL or len(matrices.intersection(fresh)) >= ALL * len(matrices) > 0:
        text = _NONE.format(fresh=len(fresh), all=total)
        exam.findings.append(Finding("weights_not_loaded", text, 0.999, evidence=evidence))
    elif len(fresh) >= max(2, MANY * total):
        text = _HALF.format(fresh=len(fresh), all=total, first=fresh[0])
        exam.findings.append(Finding("half_loaded", text, min(0.999, 0.9 + share), evidence=evidence))
    return None


def block_tensors(model: LoadedModel) -> dict[str, Tensor]:
    """Return the parameters of the blocks by name."""
    prefixes = tuple(f"{site.name}." for site in model.blocks(model.preprocessing.input_size))
    return {
        name: tensor.detach().cpu()
        for name, tensor in model.module.named_parameters()
        if name.startswith(prefixes) and not name.endswith(_SIGNS)
    }


def fresh_tensors(tensors: Mapping[str, Tensor]) -> tuple[list[str], int]:
    """Return the names of tensors that look fresh, and how many could be judged."""
    verdicts = {name: is_fresh(tensor) for name, tensor in tensors.items()}
    judged = [name for name, verdict in verdicts.items() if verdict is not None]
    return [name for name in judged if verdicts[name]], len(judged)


def is_fresh(tensor: Tensor) -> bool | None:
    """Return True for a tensor as an initialisation leaves it; None for one too small to tell."""
    if tensor.ndim == 1:
        return bool((tensor == tensor[0]).all()) if len(tensor) >= _LEAST_VECTOR else None
    matrix = tensor.reshape(len(tensor), -1).double() if tensor.ndim else tensor
    if matrix.ndim < 2 or min(matrix.shape) < _LEAST_SIDE:
        return None
    rows, cols = matrix.shape
    spread = matrix.std()
    if not spread > 0:
        return True
    matrix = matrix / spread
    fourth = float((matrix**4).mean())
    tolerance = max(3 * math.sqrt(24 / matrix.numel()), 0.02)
    if min(abs(fourth - 3 - kind) for kind in (_UNIFORM, _NORMAL)) > tolerance:
        return False
    squares = matrix**2
    if max(_unevenness(squares.mean(1), fourth, cols), _unevenness(squares.mean(0), fourth, rows)) > 4:
        return False
    return bool(torch.linalg.svdvals(matrix)[0] < 1.06 * (math.sqrt(rows) + math.sqrt(cols)))


def _unevenness(means: Tensor, fourth: float, entries: int) -> float:
    """Compute how many standard errors the variance of mean squares lies above that of independent entries."""
    expected = (fourth - 1) / entries
    return float((means.var() / expected - 1) / math.sqrt(2 / len(means)))


def check_classifier(exam: Examination) -> None:
    """Compare the classifier's answers with a probe on the features that it reads."""
    model, labels = exam.subject.model, exam.subject.labels
    if model.num_classes < 2:
        return exam.cannot_tell("head_not_loaded", NO_ANSWERS)
    if exam.subject.fed is None:
        return exam.cannot_tell("head_not_loaded", NO_PICTURES)
    if labels is None:
        return exam.cannot_tell("head_not_loaded", _HEAD_UNSURE)
    if exam.ran_out(OF_FEED):
        return exam.cannot_tell("head_not_loaded", NO_TIME)
    known = rows_for_probe(labels)
    if len(known) < LEAST or len(set(labels[known].tolist())) < 2:
        return exam.cannot_tell("head_not_loaded", FEW.format(pictures=len(known)))
    exam.did_check("head_not_loaded")
    _take_back_permutation(exam, known)
    if _is_explained(exam.findings):
        return None
    layers = classifiers_of(model.module, model.num_classes)
    if len(layers) < 2:
        return _judge_classifier(exam, known, "", exam.logits())
    for name, layer in layers.items():
        features = read_by(model.module, exam.feed(exam.fed), layer)
        if features.shape[1] == layer.in_features:
            logits = run_of(layer)(torch.from_numpy(features).to(layer.weight.dtype)).double().numpy()
            _judge_classifier(exam, known, f" {name}", logits, features)
    return None


def _take_back_permutation(exam: Examination, known: np.ndarray) -> None:
    """Remove the finding that labels are permuted where the features would give far more of them.

    A fresh classifier gives each class some class, so that a permutation mends a part of its answers.
    """
    permuted = next((finding for finding in exam.findings if finding.cause == "labels_permuted"), None)
    if permuted is None or exam.subject.labels is None or permuted.after is None:
        return
    probe = probe_accuracy(exam.features[known], exam.subject.labels[known])
    if probe is not None and permuted.after < LIKE_A_PROBE * probe:
        exam.findings.remove(permuted)
        exam.labels = None


def _judge_classifier(
    exam: Examination, known: np.ndarray, name: str, logits: Logits, features: Features | None = None
) -> None:
    """Compare answers, of the pictures in `known`, with a probe on features, by default those of the model."""
    assert exam.subject.labels is not None
    labels = exam.subject.labels[known]
    accuracy = float((logits.argmax(1)[known] == labels).mean())
    if accuracy > FEW_RIGHT:
        return
    probe = probe_accuracy((exam.features if features is None else features)[known], labels)
    if probe is None or not is_above_chance(probe, labels) or accuracy > FEW_RIGHT * probe:
        return
    exam.findings.append(
        Finding(
            cause="head_not_loaded",
            text=_HEAD.format(name=name, before=share_text(accuracy), probe=share_text(probe)),
            certainty=0.8 if is_above_chance(accuracy, labels) else 0.95,
            measure="accuracy",
            before=accuracy,
            after=probe,
            evidence={"confidence": float(probabilities(logits).max(1).mean()), "probe": probe, "pictures": len(known)},
        )
    )


def _is_explained(findings: Iterable[Finding]) -> bool:
    """Return True if wrong answers have a cause already, or the same classifier answers rightly with it mended."""
    return any(
        found.cause.startswith(("labels_", "weights_not", "half_"))
        or (found.cause in OF_CONVERSION and found.after is not None and found.after > FEW_RIGHT)
        for found in findings
    )
