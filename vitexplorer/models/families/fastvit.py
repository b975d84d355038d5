"""FastViT (arXiv 2303.14189): convolutions, and in larger models attention over the grid of the last stage."""

from __future__ import annotations

from timm.models.fastvit import Attention, FastVit
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, over_the_grid


class FastvitFamily(AttentionOnlyFamily):
    """Hybrid networks; only the blocks with attention."""

    key = "fastvit"
    title = same("FastViT")
    of = (FastVit,)
    any_size = True
    attends_by = Attention

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List every block that has attention; the smallest models have none."""
        return over_the_grid(module, Attention, input_size)


FAMILY = FastvitFamily()
