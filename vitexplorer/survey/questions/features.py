"""Features of an image: its last tokens after the final norm, the class token and the mean over patches.

A model that reads texts has a third one, in the joint space of images and texts, by which a sentence finds images.
Stored as float16, which is exact to three digits: enough to find neighbours by their cosine.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import torch
from jaxtyping import Float, Float16

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.text import Text
from vitexplorer.survey.question import Column, Question, Values


def columns(capture: Capture) -> tuple[Column, ...]:
    """Return list columns: two as wide as a token, and one as wide as the joint space where there is one."""
    kind = pa.list_(pa.float16(), capture.residual_after(capture.depth - 1).shape[-1])
    tokens = (
        Column("feature_cls", Text("Class token", "类别标记"), filters=False, type=kind),
        Column("feature_mean", Text("Mean over patches", "图块平均"), filters=False, type=kind),
    )
    if capture.model.text is None:
        return tokens
    kind = pa.list_(pa.float16(), len(capture.joint_embedding))
    return (*tokens, Column("feature_joint", Text("Space of texts", "文字空间"), filters=False, type=kind))


@torch.no_grad()
def answers(captures: Sequence[Capture], targets: Sequence[int | None]) -> list[Values]:
    """Return the features of each capture; None for a missing class token."""
    first = captures[0]
    streams = torch.stack([capture.residual_after(first.depth - 1) for capture in captures])
    tokens = first.model.family.final_norm(first.model.module, streams)
    prefix = first.prefix_tokens
    means = _small(tokens[:, len(prefix) :].mean(1))
    own = _small(tokens[:, prefix.index("cls")]) if "cls" in prefix else [None] * len(captures)
    rows = [{"feature_cls": cls, "feature_mean": mean} for cls, mean in zip(own, means, strict=True)]
    if first.model.text is not None:
        joint = _small(torch.stack([capture.joint_embedding for capture in captures]))
        rows = [{**row, "feature_joint": feature} for row, feature in zip(rows, joint, strict=True)]
    return rows


def _small(features: Float[torch.Tensor, "batch dim"]) -> Float16[np.ndarray, "batch dim"]:
    most = torch.finfo(torch.float16).max
    return features.float().clamp(-most, most).half().cpu().numpy()


QUESTION = Question(
    key="features",
    title=Text("Features", "特征"),
    question=Text("Which images are alike to the model?", "在模型看来，哪些图像相似？"),
    columns=columns,
    answers=answers,
)
