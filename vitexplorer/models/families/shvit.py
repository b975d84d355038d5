"""SHViT (arXiv 2401.16456): attention of a single head over the whole grid, on a part of the channels."""

from __future__ import annotations

from timm.models.shvit import SHSA, SHViT
from torch import nn

from vitexplorer.core.text import Text, same
from vitexplorer.core.types import BlockSite
from vitexplorer.models.families.attention_only import (
    AttentionOnlyFamily,
    between,
    numbered,
    one_head,
    parts,
    stage_grid,
)

OF_SOME_CHANNELS = Text(
    "Attention reads and writes {some} of the {all} channels; the others go past it.",
    "注意力只读写 {all} 个通道中的 {some} 个，其余通道绕过它。",
)


class ShvitFamily(AttentionOnlyFamily):
    """Mobile networks of convolutions with a single-head attention in their later stages."""

    key = "shvit"
    title = same("SHViT")
    of = (SHViT,)
    any_size = True
    attends_by = SHSA

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List every block with attention."""
        return numbered(_site(module, name, attn, input_size) for name, attn in parts(module, SHSA))


def _site(module: nn.Module, name: str, attn: nn.Module, input_size: tuple[int, int]) -> BlockSite:
    grid = stage_grid(module, name, input_size)
    return BlockSite(
        name,
        grid,
        layout=between(grid, grid),
        arrange=one_head,
        flat=True,
        formula="softmax(q kᵀ / √d)",
        notes=(OF_SOME_CHANNELS.format(some=attn.pdim, all=attn.dim),),
    )


FAMILY = ShvitFamily()
