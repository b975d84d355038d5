"""DaViT (arXiv 2204.03645): window attention alternates with channel attention, which has no map of the image."""

from __future__ import annotations

from timm.models.davit import DaVit, SpatialBlock
from torch import nn

from vitexplorer.core.text import Text, same
from vitexplorer.core.types import PatchGrid
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, in_windows


class DavitFamily(AttentionOnlyFamily):
    """Dual attention vision transformers; only the spatial blocks."""

    title = same("DaViT")
    of = (DaVit,)
    any_size = True
    left_out = Text("channel attention: it has no weight from patch to patch", "通道注意力：图块之间没有权重")
    attends_by = SpatialBlock

    def attention_of(self, name: str, part: nn.Module, grid: PatchGrid) -> Sites:
        """Yield a spatial block; padding is not masked and receives attention."""
        yield in_windows(f"{name}.attn", grid, part.window_size)


FAMILY = DavitFamily()
