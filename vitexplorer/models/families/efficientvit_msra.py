"""EfficientViT of MSRA (arXiv 2305.07027): heads in a cascade, in windows of 7 x 7 patches.

Each head has its own part of the channels, to which it adds the output of the head before. The maps show their
attention calls as the heads of one block. Windows do not shift; padding is not masked and receives attention.
"""

from __future__ import annotations

from timm.models.efficientvit_msra import EfficientVitMsra, LocalWindowAttention
from torch import nn

from vitexplorer.core.text import Text, same
from vitexplorer.core.types import PatchGrid
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, in_windows, one_head

CASCADE = Text(
    "The heads are computed one after the other: each reads its own channels plus what the head before it gave.",
    "各头依次计算：每个头读取自己的通道，再加上前一个头的结果。",
)


class EfficientvitMsraFamily(AttentionOnlyFamily):
    """Mobile networks with attention in every block."""

    title = same("EfficientViT (MSRA)")
    of = (EfficientVitMsra,)
    any_size = True
    attends_by = LocalWindowAttention

    def attention_of(self, name: str, part: nn.Module, grid: PatchGrid) -> Sites:
        """Yield the cascade of a block as one attention."""
        window = part.attn.resolution, part.attn.resolution
        yield in_windows(name, grid, window, arrange=one_head, flat=True, heads_apart=True, notes=(CASCADE,))


FAMILY = EfficientvitMsraFamily()
