"""VOLO (arXiv 2106.13112): outlook attention, which no key takes part in, then transformer blocks and class attention.

Outlook attention reads its weights off the query alone, for the neighbours of a window; those blocks are left out.
"""

from __future__ import annotations

from timm.models.volo import VOLO, Attention, ClassAttention
from torch import nn

from vitexplorer.core.text import Text, same
from vitexplorer.core.types import BlockSite, PatchGrid
from vitexplorer.models.families.attention_only import (
    AttentionOnlyFamily,
    between,
    class_only,
    numbered,
    parts,
    stage_grid,
)


class VoloFamily(AttentionOnlyFamily):
    """Vision outlookers: their transformer and class attention blocks."""

    key = "volo"
    title = same("VOLO")
    of = (VOLO,)
    left_out = Text(
        "outlook attention: its weights come from the query alone, without keys",
        "outlook 注意力：权重只来自查询，没有键",
    )

    def prefix_tokens(self, module: nn.Module) -> tuple[str, ...]:
        """The class token."""
        return ("cls",)

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """Transformer blocks on the grid of their stage, then class attention on the last one."""
        sites = []
        for name, _ in parts(module, Attention):
            grid = stage_grid(module, name.rsplit(".", 2)[0], input_size)
            sites.append(BlockSite(name, grid, layout=between(grid, grid)))
        last = PatchGrid(grid.rows, grid.cols, grid.patch_size, 1)
        sites += [BlockSite(name, last, layout=class_only(last)) for name, _ in parts(module, ClassAttention)]
        return numbered(sites)


FAMILY = VoloFamily()
