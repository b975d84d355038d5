"""TNT (arXiv 2103.00112): a plain transformer over patches with a small one inside each patch.

The inner attention is between pixels of one patch and is left out: it has no token grid of the image.
"""

from __future__ import annotations

from timm.models.tnt import TNT
from torch import nn

from vitexplorer.core.text import Text, same
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, embedded, over_grid, with_prefix


class TntFamily(AttentionOnlyFamily):
    """Transformers in transformers; only the outer blocks."""

    title = same("TNT")
    of = (TNT,)
    left_out = Text("the inner attention, between the pixels of a patch", "图块内部像素之间的注意力")

    def sites(self, module: nn.Module, input_size: tuple[int, int]) -> Sites:
        """Yield the outer attention of every block."""
        grid = with_prefix(embedded(module.pixel_embed, input_size))
        for i in range(len(module.blocks)):
            yield over_grid(f"blocks.{i}.attn_out", grid)


FAMILY = TntFamily()
