"""LeViT (arXiv 2104.01136): attention with a bias for each offset, and strided queries between stages."""

from __future__ import annotations

from timm.models.levit import Attention, AttentionDownsample, Levit
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite
from vitexplorer.models.families.attention_only import (
    AttentionOnlyFamily,
    between,
    grid_of,
    numbered,
)


class LevitFamily(AttentionOnlyFamily):
    """Hybrids with attention from the first block on."""

    key = "levit"
    title = same("LeViT")
    of = (Levit,)

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List the blocks of each stage, after the attention from its grid to the grid before."""
        cell = module.feature_info[0]["reduction"]
        sites = []
        for name, part in module.named_modules():
            keys = grid_of(input_size, cell)
            if isinstance(part, Attention):
                sites.append(BlockSite(name, keys, layout=between(keys, keys)))
            elif isinstance(part, AttentionDownsample):
                cell *= part.stride
                queries = grid_of(input_size, cell)
                sites.append(BlockSite(name, queries, layout=between(queries, keys)))
        return numbered(sites)


FAMILY = LevitFamily()
