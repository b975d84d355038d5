"""What speaks for an answer alone, as most papers of relevance have it, or what speaks against it too.

Chefer et al. 2021, Grad-CAM and LeGrad cut off what is negative, for a map that is easy to look at. Without the cut
the same sums are signed: what patches hold against an answer stands beside what they hold for it. Each view says in its
own file what becomes of its formula.
"""

from __future__ import annotations

from torch import Tensor

from vitexplorer.controls import Choice
from vitexplorer.core.text import Text
from vitexplorer.core.types import MapResult
from vitexplorer.quantities.targets import for_and_against, for_class

SIGNS = (("positive", Text("only what speaks for it", "仅支持")), ("both", Text("for and against", "支持与反对")))


def sign_control() -> Choice:
    """Whether what speaks against is kept."""
    return Choice("sign", Text("Sign", "符号"), SIGNS)


def kept(values: Tensor, sign: str) -> Tensor:
    """The positive part, or all."""
    return values.relu() if sign == "positive" else values


def reading(result: MapResult) -> Text:
    """What speaks for what is explained and how narrowly; against it too where that is kept."""
    if result.settings.get("sign") == "both":
        return for_and_against(result, result.unit)
    return for_class(result)
