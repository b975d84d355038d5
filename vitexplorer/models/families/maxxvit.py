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
from vitexplorer.core.types import BlockSite, PatchGrid
from vitexplorer.models.families.attention_only import (
    AttentionOnlyFamily,
    Sites,
    dilated,
    in_windows,
    over_grid,
    stage_grid,
)


class MaxxvitFamily(AttentionOnlyFamily):
    """Hybrids of convolution with partitioned or global attention."""

    title = same("MaxViT / CoAtNet")
    of = (MaxxVit,)

    def sites(self, module: nn.Module, input_size: tuple[int, int]) -> Sites:
        """Yield every attention of every stage, in the order of the pass."""
        partitioned = set()
        for name, part in module.named_modules():
            grid = stage_grid(module, name, input_size)
            if isinstance(part, (PartitionAttentionCl, PartitionAttention2d)):
                partitioned.add(f"{name}.attn")
                yield _partitioned(f"{name}.attn", grid, part.partition_size, part.partition_block)
            elif isinstance(part, ParallelPartitionAttention):
                partitioned |= {f"{name}.attn_block", f"{name}.attn_grid"}
                yield _partitioned(f"{name}.attn_block", grid, part.partition_size, in_block=True)
                yield _partitioned(f"{name}.attn_grid", grid, part.partition_size, in_block=False)
            elif isinstance(part, Attention2d) and name not in partitioned:
                yield over_grid(name, grid)


def _partitioned(name: str, grid: PatchGrid, size: tuple[int, int], in_block: bool) -> BlockSite:
    return in_windows(name, grid, size) if in_block else BlockSite(name, grid, layout=dilated(grid, tuple(size)))


FAMILY = MaxxvitFamily()
