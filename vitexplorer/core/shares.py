"""Units of attention that is divided among tokens, with a note, and numbers of a map: shares as percentages."""

from __future__ import annotations

from vitexplorer.core.format import fine_percent, measured
from vitexplorer.core.text import Text

ATTENTION_SHARE = Text("share of the query's attention", "占该查询注意力的份额")
ROLLOUT_SHARE = Text("share of the query's rollout", "占该查询展开结果的份额")
SWIN_NOTE = Text(
    "An approximation for Swin: merging counts the four patches alike.",
    "对 Swin 只是近似：合并 2×2 图块时四个图块各算四分之一。",
)
"""Note on a rollout through merged patches"""


def in_unit(value: float, unit: Text) -> str:
    """Format a number of a map to three significant digits: 32.9 % of attention, otherwise 0.329."""
    return fine_percent(value) if unit in (ATTENTION_SHARE, ROLLOUT_SHARE) else measured(value)
