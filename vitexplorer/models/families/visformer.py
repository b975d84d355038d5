"""Visformer (arXiv 2104.12533): convolutions first, then attention over the whole grid of a stage."""

from __future__ import annotations

from timm.models.visformer import Attention, Visformer
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, over_the_grid


class VisformerFamily(AttentionOnlyFamily):
    """Vision-friendly transformers; only the blocks with attention."""

    key = "visformer"
    title = same("Visformer")
    of = (Visformer,)

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List every block that has attention."""
        return over_the_grid(module, Attention, input_size)


FAMILY = VisformerFamily()
