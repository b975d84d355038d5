"""TNT (arXiv 2103.00112): a plain transformer over patches with a small one inside each patch.

The inner attention is between pixels of one patch and is left out: it has no token grid of the image.
"""

from __future__ import annotations

from timm.models.tnt import TNT
from torch import nn

from vitexplorer.core.text import Text, same
from vitexplorer.core.types import BlockSite, PatchGrid
from vitexplorer.models.families.attention_only import (
    AttentionOnlyFamily,
    between,
    numbered,
)


class TntFamily(AttentionOnlyFamily):
    """Transformers in transformers; only the outer blocks."""

    key = "tnt"
    title = same("TNT")
    of = (TNT,)
    left_out = Text(
        "the inner attention, between pixels of one patch",
        "图块内部像素之间的注意力",
    )

    def prefix_tokens(self, module: nn.Module) -> tuple[str, ...]:
        """Name the class token."""
        return ("cls",)

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List the outer attention of every block."""
        rows, cols = module.pixel_embed.dynamic_feat_size(input_size)
        grid = PatchGrid(rows, cols, module.pixel_embed.feat_ratio(), 1)
        layout = between(grid, grid)
        return numbered(BlockSite(f"blocks.{i}.attn_out", grid, layout=layout) for i in range(len(module.blocks)))


FAMILY = TntFamily()
