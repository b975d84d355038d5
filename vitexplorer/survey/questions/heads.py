"""Head statistics: the six metrics of the view `head_atlas` for every head of every block.

One pass over each block's attention gives all six. Lists are (blocks, heads) row by row, NaN for heads that a block
lacks. Means are over patch queries; Raghu et al. 2021 (arXiv 2108.08810), section 3.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import torch
from jaxtyping import Float

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.quantities.head_statistics import Measure, distance, entropy, peak, prefix_mass, self_mass, token_mass
from vitexplorer.survey.attention_numbers import METRICS as TAKEN
from vitexplorer.survey.question import Column, Question, Values, one_by_one
from vitexplorer.views import refusal
from vitexplorer.views.head_atlas import METRICS, SHARE, UNITS

COLUMNS = {metric: "head_entropy" if metric == "entropy" else metric for metric in METRICS}
"""Metric of the view -> column; the column `entropy` is the entropy of the prediction"""


def measures(capture: Capture, block: int) -> dict[str, Measure]:
    """Return the metrics that apply to a block."""
    metrics = {
        "distance": distance(capture.grid(block)),
        "entropy": entropy,
        "prefix_mass": prefix_mass(),
        "self_mass": self_mass,
        "peak": peak,
    }
    if "cls" in capture.prefix_tokens:
        metrics["class_mass"] = token_mass(capture.prefix_tokens.index("cls"))
    return metrics


def of_block(capture: Capture, block: int) -> dict[str, Float[np.ndarray, " heads"]]:
    """Compute every metric of a block's heads, with each piece of its attention computed once."""
    positions = torch.from_numpy(capture.positions(block)).to(capture.input.tensor.device)
    metrics = measures(capture, block)
    patches = capture.grid(block).num_patches
    totals = dict.fromkeys(metrics, 0.0)
    for queries, weights in capture.call(block).in_pieces():
        real = (positions[:, None, queries] >= 0).to(weights.dtype)
        for metric, measure in metrics.items():
            rows = measure(weights, queries, positions) * real
            totals[metric] = totals[metric] + rows.sum((0, 2), dtype=torch.float64)
    return {metric: (total / patches).cpu().numpy() for metric, total in totals.items()}


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
        return {metric: taken[metric] for metric in measures(capture, 0)}
    blocks = [of_block(capture, block) for block in range(capture.depth)]
    tables = {
        metric: np.full((len(blocks), max(len(block[metric]) for block in blocks)), np.nan) for metric in blocks[0]
    }
    for metric, table in tables.items():
        for row, block in zip(table, blocks, strict=True):
            row[: len(block[metric])] = block[metric]
    return tables


QUESTION = Question(
    key="heads",
    title=Text("Heads", "注意力头"),
    question=Text("Which kinds of heads are where in the network?", "网络的各处分别是哪一类头？"),
    columns=columns,
    answers=one_by_one(answer),
    paper=Paper("Raghu et al. 2021", "https://arxiv.org/abs/2108.08810"),
)
