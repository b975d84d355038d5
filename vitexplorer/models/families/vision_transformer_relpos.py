"""ViT with a relative position bias, as in Swin V2 or BEiT, instead of position embeddings."""

from __future__ import annotations

from timm.models.vision_transformer_relpos import VisionTransformerRelPos
from torch import nn

from vitexplorer.core.text import Text
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, embedded, over_grid, with_prefix


class VisionTransformerRelposFamily(AttentionOnlyFamily):
    """Plain transformers with relative positions."""

    title = Text("ViT with relative positions", "带相对位置的 ViT")
    of = (VisionTransformerRelPos,)
    any_size = True

    def sites(self, module: nn.Module, input_size: tuple[int, int]) -> Sites:
        """Yield all blocks."""
        grid = with_prefix(embedded(module.patch_embed, input_size), len(self.prefix_tokens(module)))
        for i in range(len(module.blocks)):
            yield over_grid(f"blocks.{i}", grid)


FAMILY = VisionTransformerRelposFamily()
