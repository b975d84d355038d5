"""Twins (arXiv 2104.13840): window attention alternates with attention to one key for each window.

Twins-PCPVT has the second kind only. Windows do not shift; padding is not masked and receives attention.
"""

from __future__ import annotations

from timm.models.twins import GlobalSubSampleAttn, LocallyGroupedAttn, Twins
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite, PatchGrid
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, between, in_windows, windows_first


class TwinsFamily(AttentionOnlyFamily):
    """Spatial attention in two kinds."""

    title = same("Twins")
    of = (Twins,)
    any_size = True

    def sites(self, module: nn.Module, input_size: tuple[int, int]) -> Sites:
        """Yield the blocks of all stages."""
        rows, cols = input_size
        cell = 1
        for s, stage in enumerate(module.blocks):
            stride = module.patch_embeds[s].patch_size[0]
            rows, cols = rows // stride, cols // stride
            cell *= stride
            grid = PatchGrid(rows, cols, cell)
            for i, block in enumerate(stage):
                yield _site(f"blocks.{s}.{i}.attn", block.attn, grid)


def _site(name: str, attn: nn.Module, grid: PatchGrid) -> BlockSite:
    if isinstance(attn, LocallyGroupedAttn):
        return in_windows(name, grid, (attn.ws, attn.ws), arrange=windows_first)
    stride = attn.sr_ratio if isinstance(attn, GlobalSubSampleAttn) else 1
    keys = PatchGrid(grid.rows // stride, grid.cols // stride, grid.patch_size * stride)
    return BlockSite(name, grid, layout=between(grid, keys))


FAMILY = TwinsFamily()
