"""ConViT (arXiv 2103.10697): gated positional attention among the patches, then plain blocks with a class token.

A gate blends the softmax of the content with a softmax of the positions; the maps show the blend, which multiplies the
values.
"""

from __future__ import annotations

from timm.models.convit import GPSA, ConVit
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, embedded, over_grid, with_prefix


class ConvitFamily(AttentionOnlyFamily):
    """Vision transformers with soft convolutional biases."""

    title = same("ConViT")
    of = (ConVit,)

    def sites(self, module: nn.Module, input_size: tuple[int, int]) -> Sites:
        """Yield the gated blocks, which have no class token, and the plain blocks, which have one."""
        grid = embedded(module.patch_embed, input_size)
        blend = {"mixes": True, "formula": "(1 − g) softmax(q kᵀ / √d) + g softmax(p)"}
        for i, block in enumerate(module.blocks):
            if isinstance(block.attn, GPSA):
                yield over_grid(f"blocks.{i}.attn", grid, **blend)
            else:
                yield over_grid(f"blocks.{i}.attn", with_prefix(grid))


FAMILY = ConvitFamily()
