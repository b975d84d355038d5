"""ViT with a relative position bias, as in Swin V2 or BEiT, instead of position embeddings."""

from __future__ import annotations

from timm.models.vision_transformer_relpos import VisionTransformerRelPos
from torch import nn

from vitexplorer.core.text import Text
from vitexplorer.core.types import BlockSite, PatchGrid
from vitexplorer.models.families.attention_only import (
    AttentionOnlyFamily,
    between,
    numbered,
)


class VisionTransformerRelposFamily(AttentionOnlyFamily):
    """Plain transformers with relative positions."""

    key = "vision_transformer_relpos"
    title = Text("ViT with relative positions", "带相对位置的 ViT")
    of = (VisionTransformerRelPos,)
    any_size = True

    def prefix_tokens(self, module: nn.Module) -> tuple[str, ...]:
        """Name the class token, if there is one."""
        return ("cls",) if module.cls_token is not None else ()

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List all blocks."""
        rows, cols = module.patch_embed.dynamic_feat_size(input_size)
        grid = PatchGrid(rows, cols, module.patch_embed.feat_ratio(), len(self.prefix_tokens(module)))
        layout = between(grid, grid)
        return numbered(BlockSite(f"blocks.{i}", grid, layout=layout) for i in range(len(module.blocks)))


FAMILY = VisionTransformerRelposFamily()
