"""LeViT (arXiv 2104.01136): attention with a bias for each offset, and strided queries between stages."""

from __future__ import annotations

from timm.models.levit import Attention, AttentionDownsample, Levit
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, between, coarser, grid_of, over_grid


class LevitFamily(AttentionOnlyFamily):
    """Hybrids with attention from the first block on."""

    title = same("LeViT")
    of = (Levit,)

    def sites(self, module: nn.Module, input_size: tuple[int, int]) -> Sites:
        """Yield the blocks of each stage, after the attention from its grid to the grid before."""
        grid = grid_of(input_size, module.feature_info[0]["reduction"])
        for name, part in module.named_modules():
            if isinstance(part, Attention):
                yield over_grid(name, grid)
            elif isinstance(part, AttentionDownsample):
                keys, grid = grid, coarser(grid, part.stride)
                yield BlockSite(name, grid, layout=between(grid, keys))


FAMILY = LevitFamily()
