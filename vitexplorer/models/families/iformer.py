"""iFormer (arXiv 2501.15369): attention of a single head, whose output is multiplied by a gate."""

from __future__ import annotations

from timm.models.iformer import SHMA, IFormer
from torch import nn

from vitexplorer.core.text import Text, same
from vitexplorer.core.types import BlockSite, PatchGrid, WindowLayout
from vitexplorer.models.families.attention_only import (
    AttentionOnlyFamily,
    between,
    numbered,
    one_head,
    parts,
    stage_grid,
)

GATED = Text(
    "What attention gives is multiplied by a gate that every patch computes of itself; the map does not show it.",
    "注意力的结果还要乘以各图块由自身算出的门控；图中不显示门控。",
)


class IformerFamily(AttentionOnlyFamily):
    """Mobile networks of convolutions with a single-head attention in their later stages."""

    key = "iformer"
    title = same("iFormer")
    of = (IFormer,)
    any_size = True
    attends_by = SHMA

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List every block with attention."""
        return numbered(
            _site(name, attn.window_size, stage_grid(module, name, input_size)) for name, attn in parts(module, SHMA)
        )


def _site(name: str, window: int, grid: PatchGrid) -> BlockSite:
    """Describe attention over the whole grid, or in windows whose padding is not masked and receives attention."""
    return BlockSite(
        name,
        grid,
        windows=WindowLayout((window, window), (0, 0)) if window else None,
        layout=None if window else between(grid, grid),
        arrange=one_head,
        flat=True,
        formula="softmax(q kᵀ / √d)",
        notes=(GATED,),
    )


FAMILY = IformerFamily()
