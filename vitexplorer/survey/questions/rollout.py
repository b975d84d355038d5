"""Concentration of attention rollout through all blocks, from the view `attention_rollout` at its defaults.

`rollout_peak` is the largest value of the map, the share of one patch. `rollout_concentration` (our own) is the
smallest share of the patches that holds at least half of the rollout on patches: 1/2 if all patches contribute alike,
1/patches if one contributes most. Abnar & Zuidema 2020 (arXiv 2005.00928). Without a class token, the query is the mean
over patches.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from jaxtyping import Float

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.survey.question import Column, Question, Values, one_by_one
from vitexplorer.views import compute

COLUMNS = (
    Column(
        "rollout_concentration",
        Text("Patches that hold half of the rollout", "合占展开结果一半的图块"),
        Text("share of the patches", "占图块总数的份额"),
        type=pa.float32(),
    ),
    Column(
        "rollout_peak",
        Text("Largest share of the rollout on one patch", "单个图块占展开结果的最大份额"),
        Text("share of the query's rollout", "占该查询展开结果的份额"),
        type=pa.float32(),
    ),
)
HALF = 0.5


def concentration(shares: Float[np.ndarray, " patches"]) -> float:
    """Return the share of the patches that, largest first, hold half of the sum."""
    held = np.cumsum(np.sort(shares.astype(np.float64))[::-1])
    return float((np.searchsorted(held, HALF * held[-1]) + 1) / len(shares))


def answer(capture: Capture) -> Values:
    """Return both numbers of the map."""
    taken = capture.tables.get("rollout")  # from a watched pass
    shares = compute("attention_rollout", capture).values.ravel() if taken is None else taken
    return {"rollout_concentration": concentration(shares), "rollout_peak": float(shares.max())}


QUESTION = Question(
    key="rollout",
    title=Text("Rollout", "注意力展开"),
    question=Text("How few patches did the model gather from?", "模型只从多少个图块汇集了信息？"),
    columns=lambda capture: COLUMNS,
    answers=one_by_one(answer),
    paper=Paper("Abnar & Zuidema 2020", "https://arxiv.org/abs/2005.00928"),
)
