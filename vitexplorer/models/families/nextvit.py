"""Next-ViT (arXiv 2207.05501): convolutions, and attention whose keys are averages except in the last stage.

Keys are averaged along the sequence, not over squares of the image; these blocks are left out.
"""

from __future__ import annotations

from timm.models.nextvit import EfficientAttention, NextViT
from torch import nn

from vitexplorer.core.text import Text, same
from vitexplorer.core.types import PatchGrid
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, over_grid


class NextvitFamily(AttentionOnlyFamily):
    """Hybrid networks; only the attention whose keys are patches."""

    title = same("Next-ViT")
    of = (NextViT,)
    any_size = True
    left_out = Text(
        "blocks whose keys are averages along the sequence, not over squares of the image",
        "键沿序列取平均、而不是在图像方块内取平均的块",
    )
    attends_by = EfficientAttention

    def attention_of(self, name: str, part: nn.Module, grid: PatchGrid) -> Sites:
        """Yield attention whose keys are not averaged."""
        if part.sr is None:
            yield over_grid(name, grid)


FAMILY = NextvitFamily()
