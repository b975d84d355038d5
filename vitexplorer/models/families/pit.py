"""PiT (arXiv 2103.16302): plain blocks with a class token on a grid that is pooled between stages."""

from __future__ import annotations

from timm.models.pit import PoolingVisionTransformer
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite, PatchGrid
from vitexplorer.models.families.attention_only import (
    AttentionOnlyFamily,
    between,
    numbered,
)


class PitFamily(AttentionOnlyFamily):
    """Pooling-based vision transformers."""

    key = "pit"
    title = same("PiT")
    of = (PoolingVisionTransformer,)

    def prefix_tokens(self, module: nn.Module) -> tuple[str, ...]:
        """Name the class token and, in a distilled model, the distillation token."""
        return ("cls", "dist")[: module.cls_token.shape[1]]

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List the blocks of each stage; patches overlap, and a cell is as large as their stride."""
        prefix = module.cls_token.shape[1]
        rows, cols = module.patch_embed.height, module.patch_embed.width
        cell = module.feature_info[0]["reduction"]
        sites = []
        for s, stage in enumerate(module.transformers):
            if s > 0:
                rows, cols = -(-rows // 2), -(-cols // 2)
            grid = PatchGrid(rows, cols, cell << s, prefix)
            sites += [
                BlockSite(f"transformers.{s}.blocks.{i}.attn", grid, layout=between(grid, grid))
                for i in range(len(stage.blocks))
            ]
        return numbered(sites)


FAMILY = PitFamily()
