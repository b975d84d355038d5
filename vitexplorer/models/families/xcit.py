"""XCiT (arXiv 2106.09681): attention between channels, which has no map of the image, then class attention.

The cross-covariance blocks have weights between the channels of a head, and none from one patch to another.
"""

from __future__ import annotations

from timm.models.xcit import Xcit
from torch import nn

from vitexplorer.core.text import Text, same
from vitexplorer.core.types import BlockSite, PatchGrid
from vitexplorer.models.families.attention_only import (
    AttentionOnlyFamily,
    class_only,
    numbered,
    stage_grid,
)


class XcitFamily(AttentionOnlyFamily):
    """Cross-covariance image transformers; only the class attention at their end."""

    key = "xcit"
    title = same("XCiT")
    of = (Xcit,)
    any_size = True
    left_out = Text(
        "the cross-covariance blocks: attention between channels, without a weight from patch to patch",
        "互协方差块：注意力在通道之间，图块之间没有权重",
    )

    def prefix_tokens(self, module: nn.Module) -> tuple[str, ...]:
        """Name the class token."""
        return ("cls",)

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List the class attention blocks."""
        cells = stage_grid(module, "blocks.0", input_size)
        grid = PatchGrid(cells.rows, cells.cols, cells.patch_size, 1)
        return numbered(
            BlockSite(f"cls_attn_blocks.{i}.attn", grid, layout=class_only(grid))
            for i in range(len(module.cls_attn_blocks))
        )


FAMILY = XcitFamily()
