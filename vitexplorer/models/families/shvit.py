"""SHViT (arXiv 2401.16456): attention of a single head over the whole grid, on a part of the channels."""

from __future__ import annotations

from timm.models.shvit import SHSA, SHViT
from torch import nn

from vitexplorer.core.text import Text, same
from vitexplorer.core.types import PatchGrid
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, one_head, over_grid

OF_SOME_CHANNELS = Text(
    "Attention reads and writes {some} of the {all} channels; the others go past it.",
    "注意力只读写 {all} 个通道中的 {some} 个，其余通道绕过它。",
)


class ShvitFamily(AttentionOnlyFamily):
    """Mobile networks of convolutions with a single-head attention in their later stages."""

    title = same("SHViT")
    of = (SHViT,)
    any_size = True
    attends_by = SHSA

    def attention_of(self, name: str, part: nn.Module, grid: PatchGrid) -> Sites:
        """Yield the attention of a block."""
        note = OF_SOME_CHANNELS.format(some=part.pdim, all=part.dim)
        yield over_grid(name, grid, arrange=one_head, flat=True, formula="softmax(q kᵀ / √d)", notes=(note,))


FAMILY = ShvitFamily()
