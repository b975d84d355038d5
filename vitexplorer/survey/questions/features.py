"""Which images are alike to the model? Its last tokens after the final norm: the class token, and the patches' mean.

Kept as float16, which is exact to three digits: enough to find neighbours by their cosine.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import torch

from vitexplorer.capture import Capture
from vitexplorer.survey.question import Column, Question, Values
from vitexplorer.words import Text


def columns(capture: Capture) -> tuple[Column, ...]:
    """Two lists as wide as a token."""
    kind = pa.list_(pa.float16(), capture.residual_after(capture.depth - 1).shape[-1])
    return (
        Column("feature_cls", kind, Text("Class token", "类别标记"), filters=False),
        Column("feature_mean", kind, Text("Mean over patches", "图块平均"), filters=False),
    )


def answer(capture: Capture, target: int | None) -> Values:
    """Both features; None for a class token that there is not."""
    stream = capture.residual_after(capture.depth - 1)[None]
    with torch.no_grad():
        tokens = capture.model.family.final_norm(capture.model.module, stream)[0]
    prefix = capture.prefix_tokens
    own = tokens[prefix.index("cls")] if "cls" in prefix else None
    return {
        "feature_cls": None if own is None else _small(own),
        "feature_mean": _small(tokens[len(prefix) :].mean(0)),
    }


def _small(feature: torch.Tensor) -> np.ndarray:
    most = torch.finfo(torch.float16).max
    return feature.float().clamp(-most, most).half().cpu().numpy()


QUESTION = Question(
    key="features",
    title=Text("Features", "特征"),
    question=Text("Which images are alike to the model?", "在模型看来，哪些图像相似？"),
    columns=columns,
    answer=answer,
)
