"""Visformer (arXiv 2104.12533): convolutions first, then attention over the whole grid of a stage."""

from __future__ import annotations

from timm.models.visformer import Attention, Visformer
from torch import nn

from vitexplorer.models.families.attention_only import (
    AttentionOnlyFamily,
    between,
    numbered,
    parts,
    stage_grid,
)
from vitexplorer.types import BlockSite
from vitexplorer.words import same


class VisformerFamily(AttentionOnlyFamily):
    """Vision-friendly transformers: the blocks that attend."""

    key = "visformer"
    title = same("Visformer")

    def claims(self, module: nn.Module) -> bool:
        """timm's Visformer."""
        return isinstance(module, Visformer)

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """Every block that has attention."""
        sites = []
        for name, _ in parts(module, Attention):
            grid = stage_grid(module, name, input_size)
            sites.append(BlockSite(name, grid, layout=between(grid, grid)))
        return numbered(sites)


FAMILY = VisformerFamily()
