"""CSATv2: convolutions on cosine transforms of 8 x 8 pixels, and attention in the last blocks of the later stages.

A small network on 7 x 7 averages scales the convolutional blocks; its softmax, as timm writes it, runs over the images
of a batch and not over positions.
"""

from __future__ import annotations

from timm.models.csatv2 import CSATv2, TransformerBlock
from torch import nn

from vitexplorer.core.text import Text, same
from vitexplorer.core.types import PatchGrid
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, over_grid


class Csatv2Family(AttentionOnlyFamily):
    """Hybrid networks; only the transformer blocks."""

    title = same("CSATv2")
    of = (CSATv2,)
    any_size = True
    left_out = Text(
        "a softmax in the convolutional blocks, which runs over the images of a batch and not over places",
        "卷积块中的一个 softmax：它沿同一批图像进行，而不是沿各位置进行",
    )
    attends_by = TransformerBlock

    def attention_of(self, name: str, part: nn.Module, grid: PatchGrid) -> Sites:
        """Yield the attention of a transformer block."""
        yield over_grid(f"{name}.attn", grid, formula="softmax(q kᵀ / √d)")


FAMILY = Csatv2Family()
