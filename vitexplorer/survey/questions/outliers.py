"""Outlier tokens: patches of the last block with very large token norms, which the model may use as scratch paper.

`outliers` counts those beyond Tukey's fence, as in the view `token_norms`; `largest_norm` is the largest norm over the
median norm. Darcet et al. 2023 (arXiv 2309.16588).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import torch
from jaxtyping import Float

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.quantities.outliers import far_out
from vitexplorer.survey.question import Column, Question, Values

COLUMNS = (
    Column(
        "outliers",
        Text("Outlier patches", "离群图块"),
        Text("patches of the last block", "最后一块中的图块数"),
        type=pa.int16(),
    ),
    Column(
        "largest_norm",
        Text("Longest patch token", "最长的图块标记"),
        Text("times the median", "中位数的倍数"),
        type=pa.float32(),
    ),
)


def answers(captures: Sequence[Capture], targets: Sequence[int | None]) -> list[Values]:
    """Return both numbers of each capture; `largest_norm` is None if the median norm is zero."""
    streams = torch.stack([capture.residual_after(capture.depth - 1) for capture in captures])
    patches = streams[:, len(captures[0].prefix_tokens) :]
    return [_values(norms) for norms in torch.linalg.vector_norm(patches, dim=-1, dtype=torch.float64).cpu().numpy()]


def _values(norms: Float[np.ndarray, " patches"]) -> Values:
    median = float(np.median(norms))
    return {"outliers": int(far_out(norms).sum()), "largest_norm": float(norms.max()) / median if median else None}


QUESTION = Question(
    key="outliers",
    title=Text("Outlier tokens", "离群标记"),
    question=Text("Are some patch tokens much longer than the others?", "是否有些图块标记的范数远大于其他标记？"),
    columns=lambda capture: COLUMNS,
    answers=answers,
    paper=Paper("Darcet et al. 2023", "https://arxiv.org/abs/2309.16588"),
)
