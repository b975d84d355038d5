"""VOLO (arXiv 2106.13112): outlook attention without keys, then transformer blocks and class attention.

Outlook attention computes the weights of a window's neighbours from the query alone; these blocks are left out.
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
    """Vision outlookers; only the transformer and class attention blocks."""

    key = "volo"
    title = same("VOLO")
    of = (VOLO,)
    left_out = Text(
        "outlook attention: its weights come from the query alone, without keys",
        "outlook 注意力：权重只来自查询，没有键",
    )

    def prefix_tokens(self, module: nn.Module) -> tuple[str, ...]:
        """Name the class token."""
        return ("cls",)

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List the transformer blocks on their stage's grid, then the class attention on the last grid."""
        sites = []
        for name, _ in parts(module, Attention):
            grid = stage_grid(module, name.rsplit(".", 2)[0], input_size)
            sites.append(BlockSite(name, grid, layout=between(grid, grid)))
        last = PatchGrid(grid.rows, grid.cols, grid.patch_size, 1)
        sites += [BlockSite(name, last, layout=class_only(last)) for name, _ in parts(module, ClassAttention)]
        return numbered(sites)


FAMILY = VoloFamily()
