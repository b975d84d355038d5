"""MaxViT (arXiv 2204.01697) and CoAtNet (arXiv 2106.04803): attention in windows, on dilated grids, or over a stage.

A grid block attends among tokens from every cell of a coarse partition, which are spread over the image.
"""

from __future__ import annotations

from timm.models.maxxvit import (
    Attention2d,
    MaxxVit,
    ParallelPartitionAttention,
    PartitionAttention2d,
    PartitionAttentionCl,
)
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite, PatchGrid, WindowLayout
from vitexplorer.models.families.attention_only import (
    AttentionOnlyFamily,
    between,
    dilated,
    numbered,
    stage_grid,
)


class MaxxvitFamily(AttentionOnlyFamily):
    """Hybrids of convolution with partitioned or global attention."""

    key = "maxxvit"
    title = same("MaxViT / CoAtNet")
    of = (MaxxVit,)

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List every attention of every stage, in the order of the pass."""
        sites = []
        for name, part in module.named_modules():
            grid = stage_grid(module, name, input_size)
            if isinstance(part, (PartitionAttentionCl, PartitionAttention2d)):
                sites.append(_partitioned(f"{name}.attn", grid, part.partition_size, part.partition_block))
            elif isinstance(part, ParallelPartitionAttention):
                sites.append(_partitioned(f"{name}.attn_block", grid, part.partition_size, in_windows=True))
                sites.append(_partitioned(f"{name}.attn_grid", grid, part.partition_size, in_windows=False))
            elif isinstance(part, Attention2d) and not any(name == site.name for site in sites):
                sites.append(BlockSite(name, grid, layout=between(grid, grid)))
        return numbered(sites)


def _partitioned(name: str, grid: PatchGrid, size: tuple[int, int], in_windows: bool) -> BlockSite:
    if in_windows:
        return BlockSite(name, grid, windows=WindowLayout(tuple(size), (0, 0)))
    return BlockSite(name, grid, layout=dilated(grid, tuple(size)))


FAMILY = MaxxvitFamily()
