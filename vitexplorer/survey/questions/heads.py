"""Head statistics: the six metrics of the view `head_atlas` for every head of every block.

One pass over each block's attention gives all six. Lists are (blocks, heads) row by row, NaN for heads that a block
lacks. Means are over patch queries; Raghu et al. 2021 (arXiv 2108.08810), section 3.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa
from jaxtyping import Float

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.quantities.head_statistics import head_measures, over_blocks
from vitexplorer.survey.attention_numbers import METRICS as TAKEN
from vitexplorer.survey.question import Column, Question, Values, one_by_one
from vitexplorer.views import refusal
from vitexplorer.views.head_atlas import METRICS, SHARE, UNITS

COLUMNS = {metric: "head_entropy" if metric == "entropy" else metric for metric in METRICS}
"""Metric of the view -> column; the column `entropy` is the entropy of the prediction"""


def columns(capture: Capture) -> tuple[Column, ...]:
    """Return a list column for each metric."""
    shape = capture.depth, max(capture.num_heads(block) for block in range(capture.depth))
    return tuple(
        Column(
            column,
            Text("{metric} of each head", "各头的{metric}").format(metric=METRICS[metric]),
            UNITS.get(metric, SHARE),
            shape=shape,
            axes=("blocks", "heads"),
            type=pa.list_(pa.float32()),
        )
        for metric, column in COLUMNS.items()
    )


def answer(capture: Capture) -> Values:
    """Return the six lists; None for the mass on a missing class token.

    Raises UnsupportedError if the view `head_atlas` does not apply to the model.
    """
    reason = refusal("head_atlas", capture)
    if reason is not None:
        raise UnsupportedError(reason)
    tables = tables_of(capture)
    return {
        column: tables[metric].astype(np.float32).ravel() if metric in tables else None
        for metric, column in COLUMNS.items()
    }


def tables_of(capture: Capture) -> dict[str, Float[np.ndarray, "blocks heads"]]:
    """Return every metric of every head, from the watched pass if there was one."""
    if "heads" in capture.tables:
        taken = dict(zip(TAKEN, capture.tables["heads"], strict=True))
        return {metric: taken[metric] for metric in head_measures(capture, 0)}
    return over_blocks(capture, partial(head_measures, capture))


QUESTION = Question(
    key="heads",
    title=Text("Heads", "注意力头"),
    question=Text("Which kinds of heads are where in the network?", "网络的各处分别是哪一类头？"),
    columns=columns,
    answers=one_by_one(answer),
    paper=Paper("Raghu et al. 2021", "https://arxiv.org/abs/2108.08810"),
)
