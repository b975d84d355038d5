"""BEiT and BEiT v2 (arXiv 2106.08254, 2208.06366): a class token and a learned bias for relative positions.

The bias reaches the attention call as its mask, class token included, so a capture sees it.
"""

from __future__ import annotations

from timm.models.beit import Beit
from torch import nn

from vitexplorer.models.families.columnar import ColumnarFamily
from vitexplorer.words import same


class BeitFamily(ColumnarFamily):
    """Vision transformers with a relative position bias and a fixed input size."""

    key = "beit"
    title = same("BEiT")

    def claims(self, module: nn.Module) -> bool:
        """timm's Beit."""
        return isinstance(module, Beit)

    def prefix_tokens(self, module: nn.Module) -> tuple[str, ...]:
        """The class token."""
        return ("cls",)


FAMILY = BeitFamily()
