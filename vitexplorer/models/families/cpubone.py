"""CPUBone (arXiv 2603.26425): attention in the last two stages, on a grid that a convolution made coarser first.

Kernels of 2 x 2 lean: where they keep the grid, a token is made of its own cell and those to the left and above.
"""

from __future__ import annotations

from timm.models.cpubone import ConvAttention, CPUBone
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, over_a_coarser_grid


class CpuboneFamily(AttentionOnlyFamily):
    """Mobile hybrids: the blocks that attend."""

    key = "cpubone"
    title = same("CPUBone")
    of = (CPUBone,)
    any_size = True
    attends_by = ConvAttention

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """The attention of the last two stages."""
        return over_a_coarser_grid(module, ConvAttention, input_size)


FAMILY = CpuboneFamily()
