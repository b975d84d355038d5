"""Choice between positive evidence for an answer alone, as in most relevance papers, and both signs.

Chefer et al. 2021, Grad-CAM and LeGrad cut off negative values, for a map that is easy to look at. Without the cut the
same sums are signed and show evidence against an answer too. Each view states in its own file what becomes of its
formula.
"""

from __future__ import annotations

from torch import Tensor

from vitexplorer.controls import Choice
from vitexplorer.core.text import Text
from vitexplorer.core.types import MapResult
from vitexplorer.quantities.targets import for_and_against, for_class

SIGN = Choice(
    "sign",
    Text("Sign", "符号"),
    (("positive", Text("only what supports it", "仅支持的部分")), ("both", Text("for and against", "支持与反对"))),
)
"""Control that chooses whether negative values are kept"""


def apply_sign(values: Tensor, sign: str) -> Tensor:
    """Return the positive part of the values, or all of them."""
    return values.relu() if sign == "positive" else values


def reading(result: MapResult) -> Text:
    """Describe the evidence for the target and how narrow it is; with both signs also the evidence against it."""
    if result.settings.get("sign") == "both":
        return for_and_against(result, result.unit)
    return for_class(result)
