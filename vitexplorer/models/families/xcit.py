"""XCiT (arXiv 2106.09681): attention between channels, which has no map of the image, then class attention.

The cross-covariance blocks have weights between the channels of a head, and none from one patch to another.
"""

from __future__ import annotations

from timm.models.xcit import Xcit
from torch import nn

from vitexplorer.core.text import Text, same
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, of_class, stage_grid, with_prefix


class XcitFamily(AttentionOnlyFamily):
    """Cross-covariance image transformers; only the class attention at their end."""

    title = same("XCiT")
    of = (Xcit,)
    any_size = True
    left_out = Text(
        "the cross-covariance blocks: attention between channels, without a weight from patch to patch",
        "互协方差块：注意力作用于通道之间，图块之间没有权重",
    )

    def sites(self, module: nn.Module, input_size: tuple[int, int]) -> Sites:
        """Yield the class attention blocks."""
        grid = with_prefix(stage_grid(module, "blocks.0", input_size))
        for i in range(len(module.cls_attn_blocks)):
            yield of_class(f"cls_attn_blocks.{i}.attn", grid)


FAMILY = XcitFamily()
