"""LowFormer (arXiv 2409.03460): attention in the last two stages, on a grid that a convolution makes coarser first."""

from __future__ import annotations

from timm.models.lowformer import ConvAttention, LowFormer
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, over_a_coarser_grid


class LowformerFamily(AttentionOnlyFamily):
    """Mobile hybrid networks; only the blocks with attention."""

    key = "lowformer"
    title = same("LowFormer")
    of = (LowFormer,)
    any_size = True
    attends_by = ConvAttention

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List the attention of the last two stages."""
        return over_a_coarser_grid(module, ConvAttention, input_size)


FAMILY = LowformerFamily()
