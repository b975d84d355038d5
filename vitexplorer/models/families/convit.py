"""ConViT (arXiv 2103.10697): gated positional attention among the patches, then plain blocks with a class token.

A gate blends the softmax of the content with a softmax of the positions; the maps show the blend, which multiplies the
values.
"""

from __future__ import annotations

from timm.models.convit import GPSA, ConVit
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite, PatchGrid
from vitexplorer.models.families.attention_only import (
    AttentionOnlyFamily,
    between,
    numbered,
)


class ConvitFamily(AttentionOnlyFamily):
    """Vision transformers with soft convolutional biases."""

    key = "convit"
    title = same("ConViT")
    of = (ConVit,)

    def prefix_tokens(self, module: nn.Module) -> tuple[str, ...]:
        """Name the class token."""
        return ("cls",)

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List the gated blocks, which have no class token, and the plain blocks, which have one."""
        rows, cols = module.patch_embed.dynamic_feat_size(input_size)
        cell = module.patch_embed.feat_ratio()
        gated = PatchGrid(rows, cols, cell)
        plain = PatchGrid(rows, cols, cell, 1)
        is_gated = [isinstance(block.attn, GPSA) for block in module.blocks]
        return numbered(
            BlockSite(
                f"blocks.{i}.attn",
                gated,
                layout=between(gated, gated),
                mixes=True,
                formula="(1 − g) softmax(q kᵀ / √d) + g softmax(p)",
            )
            if is_gated[i]
            else BlockSite(f"blocks.{i}.attn", plain, layout=between(plain, plain))
            for i in range(len(module.blocks))
        )


FAMILY = ConvitFamily()
