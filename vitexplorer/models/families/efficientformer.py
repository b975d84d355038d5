"""EfficientFormer (arXiv 2206.01191): pooling first, attention with a learned bias in the last blocks."""

from __future__ import annotations

from timm.models.efficientformer import Attention, EfficientFormer
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, over_the_grid


class EfficientformerFamily(AttentionOnlyFamily):
    """Hybrid networks; only the blocks with attention."""

    key = "efficientformer"
    title = same("EfficientFormer")
    of = (EfficientFormer,)

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List every block whose token mixer is attention."""
        return over_the_grid(module, Attention, input_size)


FAMILY = EfficientformerFamily()
