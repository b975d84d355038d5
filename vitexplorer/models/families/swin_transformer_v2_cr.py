"""Swin V2 as implemented by C. Reich (arXiv 2111.09883): shifted windows, scaled cosines, a bias from a small MLP."""

from __future__ import annotations

from timm.models.swin_transformer_v2_cr import SwinTransformerV2Cr, SwinTransformerV2CrBlock
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite, PatchGrid, WindowLayout
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites


class SwinTransformerV2CrFamily(AttentionOnlyFamily):
    """timm's other Swin V2."""

    title = same("Swin V2 (Reich)")
    of = (SwinTransformerV2Cr,)
    any_size = True
    attends_by = SwinTransformerV2CrBlock

    def attention_of(self, name: str, part: nn.Module, grid: PatchGrid) -> Sites:
        """Yield a block; each has its own window size."""
        windows = WindowLayout(tuple(part.window_size), tuple(part.shift_size))
        yield BlockSite(f"{name}.attn", grid, windows=windows, formula="softmax(τ cos(q, k) + bias)")


FAMILY = SwinTransformerV2CrFamily()
