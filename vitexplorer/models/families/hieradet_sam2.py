"""Image encoder of SAM 2 (arXiv 2408.00714): Hiera on a plain grid, in padded windows, some blocks global."""

from __future__ import annotations

from timm.models.hieradet_sam2 import HieraDet
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite, TokenLayout, WindowLayout
from vitexplorer.models.families.attention_only import (
    AttentionOnlyFamily,
    between,
    grid_of,
    numbered,
)


class HieradetSam2Family(AttentionOnlyFamily):
    """Hierarchical detection backbones."""

    key = "hieradet_sam2"
    title = same("Hiera (SAM 2)")
    of = (HieraDet,)

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List all blocks; windows of pooled queries shrink with them."""
        cell = module.patch_embed.proj.stride[0]
        sites = []
        for i, block in enumerate(module.blocks):
            keys = grid_of(input_size, cell)
            window = tuple(block.window_size)
            stride = block.q_stride[0] if block.q_stride else 1
            cell *= stride
            queries = grid_of(input_size, cell)
            if block.is_windowed:
                smaller = tuple(side // stride for side in window)
                layout = TokenLayout(
                    WindowLayout(smaller, (0, 0)).positions(queries), WindowLayout(window, (0, 0)).positions(keys), keys
                )
            else:
                layout = between(queries, keys)
            sites.append(BlockSite(f"blocks.{i}.attn", queries, layout=layout))
        return numbered(sites)


FAMILY = HieradetSam2Family()
