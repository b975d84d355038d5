"""TinyViT (arXiv 2207.10666): convolutions in the first stage, then windows that do not shift, with a bias."""

from __future__ import annotations

from timm.models.tiny_vit import TinyVit, TinyVitBlock
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite, WindowLayout
from vitexplorer.models.families.attention_only import (
    AttentionOnlyFamily,
    numbered,
    parts,
    stage_grid,
)


class TinyVitFamily(AttentionOnlyFamily):
    """Small distilled transformers."""

    key = "tiny_vit"
    title = same("TinyViT")
    of = (TinyVit,)
    any_size = True

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List the blocks with attention; padding is not masked and receives attention."""
        return numbered(
            BlockSite(
                name=f"{name}.attn",
                grid=stage_grid(module, name, input_size),
                windows=WindowLayout((block.window_size,) * 2, (0, 0)),
            )
            for name, block in parts(module, TinyVitBlock)
        )


FAMILY = TinyVitFamily()
