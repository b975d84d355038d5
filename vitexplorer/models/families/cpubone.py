"""CPUBone (arXiv 2603.26425): attention in the last two stages, on a grid that a convolution makes coarser first.

Kernels of 2 x 2 are not centred: if they keep the grid, a token depends on its own cell and those left and above.
"""

from __future__ import annotations

from timm.models.cpubone import ConvAttention, CPUBone
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, over_a_coarser_grid


class CpuboneFamily(AttentionOnlyFamily):
    """Mobile hybrid networks; only the blocks with attention."""

    key = "cpubone"
    title = same("CPUBone")
    of = (CPUBone,)
    any_size = True
    attends_by = ConvAttention

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List the attention of the last two stages."""
        return over_a_coarser_grid(module, ConvAttention, input_size)


FAMILY = CpuboneFamily()
