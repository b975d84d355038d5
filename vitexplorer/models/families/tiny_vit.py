"""TinyViT (arXiv 2207.10666): convolutions in the first stage, then windows that do not shift, with a bias."""

from __future__ import annotations

from timm.models.tiny_vit import TinyVit, TinyVitBlock
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import PatchGrid
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, in_windows


class TinyVitFamily(AttentionOnlyFamily):
    """Small distilled transformers."""

    title = same("TinyViT")
    of = (TinyVit,)
    any_size = True
    attends_by = TinyVitBlock

    def attention_of(self, name: str, part: nn.Module, grid: PatchGrid) -> Sites:
        """Yield a block with attention; padding is not masked and receives attention."""
        yield in_windows(f"{name}.attn", grid, (part.window_size,) * 2)


FAMILY = TinyVitFamily()
