"""VOLO (arXiv 2106.13112): outlook attention without keys, then transformer blocks and class attention.

Outlook attention computes the weights of a window's neighbours from the query alone; these blocks are left out.
"""

from __future__ import annotations

from timm.models.volo import VOLO, Attention, ClassAttention
from torch import nn

from vitexplorer.core.text import Text, same
from vitexplorer.core.types import PatchGrid
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, of_class, over_grid, with_prefix


class VoloFamily(AttentionOnlyFamily):
    """Vision outlookers; only the transformer and class attention blocks."""

    title = same("VOLO")
    of = (VOLO,)
    left_out = Text(
        "outlook attention: its weights come from the query alone, without keys",
        "outlook 注意力：权重只来自查询，没有键",
    )
    attends_by = (Attention, ClassAttention)

    def attention_of(self, name: str, part: nn.Module, grid: PatchGrid) -> Sites:
        """Yield a transformer block, or class attention on the last grid."""
        yield of_class(name, with_prefix(grid)) if isinstance(part, ClassAttention) else over_grid(name, grid)


FAMILY = VoloFamily()
