"""CAFormer (arXiv 2210.13452): convolutions in two stages, attention over the whole grid in the other two.

PoolFormer and ConvFormer share its class and have no attention.
"""

from __future__ import annotations

from timm.models.metaformer import Attention, MetaFormer
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, over_the_grid


class MetaformerFamily(AttentionOnlyFamily):
    """MetaFormers with attention."""

    key = "metaformer"
    title = same("MetaFormer")
    of = (MetaFormer,)
    any_size = True
    attends_by = Attention

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List every block whose token mixer is attention."""
        return over_the_grid(module, Attention, input_size)


FAMILY = MetaformerFamily()
