"""Controls of deletion and insertion curves: the number of steps, and the seed of the random order for comparison."""

from __future__ import annotations

from vitexplorer.controls.number import Number
from vitexplorer.core.text import Text

CURVE_CONTROLS = (
    Number("steps", Text("Steps", "步数"), low=2, high=100, start=10, step=1, whole=True),
    Number("seed", Text("Seed", "随机种子"), low=0, high=2**31 - 1, step=1, whole=True),
)
