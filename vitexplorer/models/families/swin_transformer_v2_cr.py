"""Swin V2 as implemented by C. Reich (arXiv 2111.09883): shifted windows, scaled cosines, a bias from a small MLP."""

from __future__ import annotations

from timm.models.swin_transformer_v2_cr import SwinTransformerV2Cr, SwinTransformerV2CrBlock
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite, WindowLayout
from vitexplorer.models.families.attention_only import (
    AttentionOnlyFamily,
    numbered,
    parts,
    stage_grid,
)


class SwinTransformerV2CrFamily(AttentionOnlyFamily):
    """timm's other Swin V2."""

    key = "swin_transformer_v2_cr"
    title = same("Swin V2 (Reich)")
    of = (SwinTransformerV2Cr,)
    any_size = True

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List all blocks; each has its own window size."""
        return numbered(
            BlockSite(
                name=f"{name}.attn",
                grid=stage_grid(module, name, input_size),
                windows=WindowLayout(tuple(block.window_size), tuple(block.shift_size)),
                formula="softmax(τ cos(q, k) + bias)",
            )
            for name, block in parts(module, SwinTransformerV2CrBlock)
        )


FAMILY = SwinTransformerV2CrFamily()
