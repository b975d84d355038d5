"""What the families share whose tokens keep one patch grid from the first block to the last."""

from __future__ import annotations

from torch import nn

from vitexplorer.interfaces import BlockSite, ModelFamily
from vitexplorer.types import PatchGrid


class ColumnarFamily(ModelFamily):
    """Every block sees all tokens: prefix tokens first, then the patches row by row."""

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """One site a block, all on the same grid."""
        grid = self.grid(module, input_size)
        return tuple(BlockSite(name=f"blocks.{i}", grid=grid) for i in range(len(module.blocks)))

    def grid(self, module: nn.Module, input_size: tuple[int, int]) -> PatchGrid:
        """The grid that the patch embedding makes of an input of (height, width) pixels.

        Pixels beyond the last whole patch are cut: SigLIP so400m reads 384 pixels as 27 patches of 14.
        """
        rows, cols = module.patch_embed.dynamic_feat_size(input_size)
        return PatchGrid(rows, cols, module.patch_embed.feat_ratio(), len(self.prefix_tokens(module)))

    def size_multiple(self, module: nn.Module) -> tuple[int, int] | None:
        """The patch size where position embeddings are resampled on the fly, otherwise None."""
        if not getattr(module, "dynamic_img_size", False):
            return None
        return tuple(module.patch_embed.feat_ratio(as_scalar=False))
