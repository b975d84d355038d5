"""Image encoder of SAM 2 (arXiv 2408.00714): Hiera on a plain grid, in padded windows, some blocks global."""

from __future__ import annotations

from timm.models.hieradet_sam2 import HieraDet
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite, TokenLayout, WindowLayout
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, between, grid_of


class HieradetSam2Family(AttentionOnlyFamily):
    """Hierarchical detection backbones."""

    title = same("Hiera (SAM 2)")
    of = (HieraDet,)

    def sites(self, module: nn.Module, input_size: tuple[int, int]) -> Sites:
        """Yield all blocks; windows of pooled queries shrink with them."""
        cell = module.patch_embed.proj.stride[0]
        for i, block in enumerate(module.blocks):
            keys = grid_of(input_size, cell)
            stride = block.q_stride[0] if block.q_stride else 1
            cell *= stride
            queries = grid_of(input_size, cell)
            layout = between(queries, keys)
            if block.is_windowed:
                window = WindowLayout(tuple(block.window_size), (0, 0))
                smaller = WindowLayout(tuple(side // stride for side in block.window_size), (0, 0))
                layout = TokenLayout(smaller.positions(queries), window.positions(keys), keys)
            yield BlockSite(f"blocks.{i}.attn", queries, layout=layout)


FAMILY = HieradetSam2Family()
