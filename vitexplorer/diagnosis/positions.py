"""Check of the learned position embedding by itself: it differs from patch to patch, and is alike for neighbours.

Training makes the embeddings of neighbouring patches alike (Dosovitskiy et al. 2021, arXiv 2010.11929, figure 7). In a
table in another order each place still has others that are alike, but they lie anywhere. So the place most like each
is sought, and how many of these lie far away is compared with how many would by chance. Turned or transposed tables
pass, since neighbours stay neighbours; answers to pictures tell those.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from vitexplorer.core.format import percent
from vitexplorer.core.text import Text
from vitexplorer.diagnosis.alternatives import position_table
from vitexplorer.diagnosis.answers import unit_rows
from vitexplorer.diagnosis.diagnosis import Finding
from vitexplorer.diagnosis.examination import Examination

MISSING, SHUFFLED = "positions_missing", "positions_shuffled"
RESAMPLED = "positions_badly_resampled"
"""Cause that may part neighbours: a table that was resampled as a sequence looks shuffled, and pictures tell the two"""
NEIGHBOURLY = ("positions_transposed", "prefix_tokens_among_patches")
"""Causes that leave neighbours neighbours; a shuffled table is none of them"""
LEAST = 25
"""Fewest places of a table whose order can be judged"""
ALIKE = 2.0
"""Likeness of the likest places, as a multiple of what chance gives in a table of noise, from which there is order"""
FAR = 3.0
"""Patches between two places from which they are no neighbours"""
SHARE = 0.25
"""A table counts as shuffled from this many far places on, as a part of those that chance gives. A right table has
none; with a quarter of its places shuffled it has about 0.4 of them"""
_NO_POSITIONS = Text("The model has no learned position embedding.", "模型没有可学习的位置编码。")
_MISSING = Text(
    "The position embedding is the same for every patch: the model cannot tell where a patch is.",
    "所有图块的位置编码都相同：模型无法分辨图块的位置。",
)
_SHUFFLED = Text(
    "The position embedding is in another order: for {share} of the places the likest embedding lies {far} or more "
    "patches away.",
    "位置编码的顺序被打乱：{share} 的位置与其编码最相似的位置相距 {far} 个图块以上。",
)


def check_positions(exam: Examination) -> None:
    """Find a position embedding that is the same everywhere, or in no order; it takes no pictures."""
    table = position_table(exam.subject.model)
    if table is None:
        return exam.cannot_tell((MISSING, SHUFFLED, RESAMPLED, *NEIGHBOURLY), _NO_POSITIONS)
    exam.did_check((MISSING, SHUFFLED))
    _, values, grid = table
    patches = values[0, -grid[0] * grid[1] :].float().cpu().numpy().astype(np.float64)
    centred = patches - patches.mean(0)
    if np.linalg.norm(centred) < 1e-6 * max(1.0, np.linalg.norm(patches)):
        exam.findings.append(Finding(MISSING, _MISSING, 0.99, evidence={"grid": grid}))
    elif share := shuffled_share(centred, grid):
        text = _SHUFFLED.format(share=percent(share), far=round(FAR))
        exam.findings.append(Finding(SHUFFLED, text, 0.97, evidence={"grid": grid, "share": share}))
    return None


def shuffled_share(table: Float[np.ndarray, "places dim"], grid: tuple[int, int]) -> float | None:
    """Return the share of the places whose likest place is far away, 0-1, if the table is in no order.

    None for a table in order, for one without any, such as a fresh one, and for one that is too small to tell.
    """
    count, dim = table.shape
    if count < LEAST:
        return None
    unit = unit_rows(table)
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, -2.0)
    by_chance = math.sqrt(2 * math.log(count) / dim)
    if cosines.max(1).mean() < ALIKE * by_chance:
        return None
    rows, cols = divmod(np.arange(count), grid[1])
    is_far = np.hypot(rows[:, None] - rows, cols[:, None] - cols) >= FAR
    share = float(is_far[np.arange(count), cosines.argmax(1)].mean())
    return share if share > SHARE * is_far.sum() / (count * (count - 1)) else None
