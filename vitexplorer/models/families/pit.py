"""PiT (arXiv 2103.16302): plain blocks with a class token on a grid that is pooled between stages."""

from __future__ import annotations

from timm.models.pit import PoolingVisionTransformer
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import PatchGrid
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, coarser, over_grid, with_prefix


class PitFamily(AttentionOnlyFamily):
    """Pooling-based vision transformers."""

    title = same("PiT")
    of = (PoolingVisionTransformer,)

    def prefix_tokens(self, module: nn.Module) -> tuple[str, ...]:
        """Name the class token and, in a distilled model, the distillation token."""
        return ("cls", "dist")[: module.cls_token.shape[1]]

    def sites(self, module: nn.Module, input_size: tuple[int, int]) -> Sites:
        """Yield the blocks of each stage; patches overlap, and a cell is as large as their stride."""
        first = PatchGrid(module.patch_embed.height, module.patch_embed.width, module.feature_info[0]["reduction"])
        for s, stage in enumerate(module.transformers):
            grid = with_prefix(coarser(first, 2**s), module.cls_token.shape[1])
            for i in range(len(stage.blocks)):
                yield over_grid(f"transformers.{s}.blocks.{i}.attn", grid)


FAMILY = PitFamily()
