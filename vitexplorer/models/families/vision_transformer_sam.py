"""Image encoder of Segment Anything (arXiv 2304.02643): plain blocks in padded windows, some of them global."""

from __future__ import annotations

from collections.abc import Callable

from timm.models.vision_transformer_sam import VisionTransformerSAM
from torch import Tensor, nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite, PatchGrid, WindowLayout
from vitexplorer.models.families.attention_only import (
    AttentionOnlyFamily,
    between,
    numbered,
)


class VisionTransformerSamFamily(AttentionOnlyFamily):
    """Plain transformers with windows."""

    key = "vision_transformer_sam"
    title = same("ViT (SAM)")
    of = (VisionTransformerSAM,)
    any_size = True

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List all blocks; padding is not masked and receives attention."""
        rows, cols = module.patch_embed.dynamic_feat_size(input_size)
        grid = PatchGrid(rows, cols, module.patch_embed.feat_ratio())
        sites = []
        for i, block in enumerate(module.blocks):
            layout = (
                {"windows": WindowLayout((block.window_size,) * 2, (0, 0))}
                if block.window_size > 0
                else {"layout": between(grid, grid)}
            )
            sites.append(BlockSite(f"blocks.{i}.attn", grid, arrange=_by_heads(block.attn.num_heads), **layout))
        return numbered(sites)


def _by_heads(num_heads: int) -> Callable[[Tensor], Tensor]:
    """Make a function that rearranges (windows x heads, tokens, dim) to (windows, heads, tokens, dim)."""
    return lambda tensor: tensor.unflatten(0, (-1, num_heads))


FAMILY = VisionTransformerSamFamily()
