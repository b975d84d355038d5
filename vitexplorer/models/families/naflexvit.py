"""NaFlexViT (NaViT, arXiv 2307.06304; FlexiViT, arXiv 2212.08013): plain blocks, here on one image of one size."""

from __future__ import annotations

from timm.models.naflexvit import NaFlexVit
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import PatchGrid
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, over_grid


class NaflexvitFamily(AttentionOnlyFamily):
    """Vision transformers for any aspect."""

    title = same("NaFlexViT")
    of = (NaFlexVit,)
    any_size = True

    def prefix_tokens(self, module: nn.Module) -> tuple[str, ...]:
        """Name the tokens of the embedding, which holds them."""
        return super().prefix_tokens(module.embeds)

    def sites(self, module: nn.Module, input_size: tuple[int, int]) -> Sites:
        """Yield all blocks."""
        cell = module.embeds.patch_size[0]
        rows, cols = (side // cell for side in input_size)
        grid = PatchGrid(rows, cols, cell, len(self.prefix_tokens(module)))
        for i in range(len(module.blocks)):
            yield over_grid(f"blocks.{i}", grid)


FAMILY = NaflexvitFamily()
