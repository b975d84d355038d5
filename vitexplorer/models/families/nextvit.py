"""Next-ViT (arXiv 2207.05501): convolutions, and attention whose keys are averages except in the last stage.

Keys are averaged along the sequence, not over squares of the image; these blocks are left out.
"""

from __future__ import annotations

from timm.models.nextvit import EfficientAttention, NextViT
from torch import nn

from vitexplorer.core.text import Text, same
from vitexplorer.core.types import BlockSite
from vitexplorer.models.families.attention_only import (
    AttentionOnlyFamily,
    between,
    numbered,
    parts,
    stage_grid,
)


class NextvitFamily(AttentionOnlyFamily):
    """Hybrid networks; only the attention whose keys are patches."""

    key = "nextvit"
    title = same("Next-ViT")
    of = (NextViT,)
    any_size = True
    left_out = Text(
        "blocks whose keys are averages along the sequence, not over squares of the image",
        "键沿序列取平均、而非图像方块平均的块",
    )

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List the blocks whose keys are not averaged."""
        sites = []
        for name, attn in parts(module, EfficientAttention):
            if attn.sr is None:
                grid = stage_grid(module, name, input_size)
                sites.append(BlockSite(name, grid, layout=between(grid, grid)))
        return numbered(sites)


FAMILY = NextvitFamily()
