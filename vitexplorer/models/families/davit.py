"""DaViT (arXiv 2204.03645): window attention alternates with channel attention, which has no map of the image."""

from __future__ import annotations

from timm.models.davit import DaVit, SpatialBlock
from torch import nn

from vitexplorer.core.text import Text, same
from vitexplorer.core.types import BlockSite, WindowLayout
from vitexplorer.models.families.attention_only import (
    AttentionOnlyFamily,
    numbered,
    parts,
    stage_grid,
)


class DavitFamily(AttentionOnlyFamily):
    """Dual attention vision transformers; only the spatial blocks."""

    key = "davit"
    title = same("DaViT")
    of = (DaVit,)
    any_size = True
    left_out = Text(
        "channel attention: it has no weight from patch to patch",
        "通道注意力：图块之间没有权重",
    )

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List the spatial blocks; padding is not masked and receives attention."""
        return numbered(
            BlockSite(
                name=f"{name}.attn",
                grid=stage_grid(module, name, input_size),
                windows=WindowLayout(tuple(block.window_size), (0, 0)),
            )
            for name, block in parts(module, SpatialBlock)
        )


FAMILY = DavitFamily()
