"""CaiT (arXiv 2103.17239): talking heads among the patches, then two blocks of class attention.

Talking heads (arXiv 2003.02436) mix the heads before and after the softmax. The maps show the weights that multiply the
values.
"""

from __future__ import annotations

from timm.models.cait import Cait
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite, PatchGrid
from vitexplorer.models.families.attention_only import (
    AttentionOnlyFamily,
    between,
    class_only,
    numbered,
)


class CaitFamily(AttentionOnlyFamily):
    """Class attention in image transformers."""

    key = "cait"
    title = same("CaiT")
    of = (Cait,)

    def prefix_tokens(self, module: nn.Module) -> tuple[str, ...]:
        """Name the class token."""
        return ("cls",)

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List the blocks among patches, without the class token, then the blocks of class attention."""
        rows, cols = module.patch_embed.dynamic_feat_size(input_size)
        cell = module.patch_embed.feat_ratio()
        patches = PatchGrid(rows, cols, cell)
        with_class = PatchGrid(rows, cols, cell, 1)
        talking_heads = [
            BlockSite(
                f"blocks.{i}.attn",
                patches,
                layout=between(patches, patches),
                mixes=True,
                formula="W softmax(V q kᵀ / √d)",
            )
            for i in range(len(module.blocks))
        ]
        class_attention = [
            BlockSite(f"blocks_token_only.{i}.attn", with_class, layout=class_only(with_class))
            for i in range(len(module.blocks_token_only))
        ]
        return numbered([*talking_heads, *class_attention])


FAMILY = CaitFamily()
