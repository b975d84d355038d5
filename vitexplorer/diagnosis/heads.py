"""Check of heads that add nothing, and of answers that are all the same."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from torch import Tensor, nn

from vitexplorer.core.text import Text
from vitexplorer.diagnosis.alternatives import Attention, attentions
from vitexplorer.diagnosis.answers import unit_rows
from vitexplorer.diagnosis.diagnosis import Finding
from vitexplorer.diagnosis.examination import Examination
from vitexplorer.diagnosis.sentences import share_text
from vitexplorer.diagnosis.subject import UNKNOWN

NOTHING = 1e-4
"""Norm of what a head can add, as a share of the median head of its block, below which it is dead"""
ALIKE = 0.9995
"""Mean cosine of the features of different pictures from which they are one feature"""
ONE_CLASS = 0.95
_OUTPUTS = ("proj", "out_proj", "o_proj")

_DEAD = Text(
    "{count:head adds/heads add} nothing: {first} first.", "{count} 个注意力头没有任何输出，第一个是 {first}。"
)
_COLLAPSED = Text(
    "The model gives nearly the same for every picture: {share} of them get one class, and the mean cosine of their "
    "features is {cosine}.",
    "模型对所有图像给出几乎相同的结果：{share} 的图像得到同一类别，特征的平均余弦为 {cosine}。",
)
_UNKNOWN_PARTS = Text("The parts of the attention have no known names.", "注意力各部分的名称未知。")


def check_heads(exam: Examination) -> None:
    """Name heads whose values or whose part of the output projection is zero."""
    norms = list(_added(exam.subject.model.module))
    if not norms:
        return exam.cannot_tell("dead_heads", _UNKNOWN_PARTS)
    exam.did_check("dead_heads")
    dead = [
        (path, head)
        for path, sizes in norms
        for head, size in enumerate(sizes)
        if size <= NOTHING * max(float(np.median(sizes)), 1e-12)
    ]
    if dead:
        first = f"{dead[0][0]}, {dead[0][1]}"
        evidence = {
            "heads": [{"module": path, "head": head} for path, head in dead],
            "of": sum(len(s) for _, s in norms),
        }
        exam.findings.append(Finding("dead_heads", _DEAD.format(count=len(dead), first=first), 0.97, evidence=evidence))
    return None


def _added(module: nn.Module) -> Iterator[tuple[str, np.ndarray]]:
    """Yield for each attention module how much each head can add: the norm of its values times its output weights."""
    for part in attentions(module):
        output = next((getattr(part.module, name) for name in _OUTPUTS if hasattr(part.module, name)), None)
        values = _values_of(part)
        if not isinstance(output, nn.Linear) or values is None or output.in_features != len(values):
            continue
        wide = len(values) // part.heads
        into = values.detach().reshape(part.heads, wide, -1).float().cpu()
        out = output.weight.detach().float().cpu().reshape(-1, part.heads, wide)
        sizes = [float((out[:, head] @ into[head]).norm()) for head in range(part.heads)]
        yield part.path, np.array(sizes)


def _values_of(part: Attention) -> Tensor | None:
    """Return the weights that make the values, (dim, inputs)."""
    parameters = dict(part.module.named_parameters())
    own = [name.removeprefix(f"{part.path}.") for name in part.names]
    if part.is_joined:
        joined = parameters[own[0]]
        return joined.chunk(3)[2] if len(joined) % 3 == 0 else None
    return parameters[own[2]]


def check_collapse(exam: Examination) -> None:
    """Find answers, or features, that do not depend on the picture."""
    model = exam.subject.model
    exam.did_check("collapsed")
    unit = unit_rows(exam.features)
    count = len(unit)
    cosine = float((np.linalg.norm(unit.sum(0)) ** 2 - count) / max(count * (count - 1), 1))
    share = _commonest(exam.logits().argmax(1)) if model.num_classes > 1 else 0.0
    labels = exam.subject.labels
    varied = labels is not None and _commonest(labels[labels != UNKNOWN]) < 0.6
    if cosine > ALIKE or (share > ONE_CLASS and varied):
        evidence = {"cosine": cosine, "share_of_one_class": share, "pictures": count}
        text = _COLLAPSED.format(share=share_text(share), cosine=f"{cosine:.4f}")
        exam.findings.append(Finding("collapsed", text, 0.9, evidence=evidence))


def _commonest(labels: np.ndarray) -> float:
    return float(np.unique(labels, return_counts=True)[1].max() / len(labels)) if len(labels) else 1.0
