"""CaiT (arXiv 2103.17239): talking heads among the patches, then two blocks of class attention.

Talking heads (arXiv 2003.02436) mix the heads before and after the softmax. The maps show the weights that multiply the
values.
"""

from __future__ import annotations

from timm.models.cait import Cait
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.models.families.attention_only import (
    AttentionOnlyFamily,
    Sites,
    embedded,
    of_class,
    over_grid,
    with_prefix,
)


class CaitFamily(AttentionOnlyFamily):
    """Class attention in image transformers."""

    title = same("CaiT")
    of = (Cait,)

    def sites(self, module: nn.Module, input_size: tuple[int, int]) -> Sites:
        """Yield the blocks among patches, without the class token, then the blocks of class attention."""
        grid = embedded(module.patch_embed, input_size)
        for i in range(len(module.blocks)):
            yield over_grid(f"blocks.{i}.attn", grid, mixes=True, formula="W softmax(V q kᵀ / √d)")
        for i in range(len(module.blocks_token_only)):
            yield of_class(f"blocks_token_only.{i}.attn", with_prefix(grid))


FAMILY = CaitFamily()
