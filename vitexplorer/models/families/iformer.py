"""iFormer (arXiv 2501.15369): attention of a single head, whose output is multiplied by a gate."""

from __future__ import annotations

from timm.models.iformer import SHMA, IFormer
from torch import nn

from vitexplorer.core.text import Text, same
from vitexplorer.core.types import PatchGrid
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, in_windows, one_head, over_grid

GATED = Text(
    "What attention gives is multiplied by a gate that every patch computes of itself; the map does not show it.",
    "注意力的结果还要乘以各图块由自身算出的门控；图中不显示门控。",
)


class IformerFamily(AttentionOnlyFamily):
    """Mobile networks of convolutions with a single-head attention in their later stages."""

    title = same("iFormer")
    of = (IFormer,)
    any_size = True
    attends_by = SHMA

    def attention_of(self, name: str, part: nn.Module, grid: PatchGrid) -> Sites:
        """Yield attention over the whole grid, or in windows whose padding is not masked and receives attention."""
        facts = {"arrange": one_head, "flat": True, "formula": "softmax(q kᵀ / √d)", "notes": (GATED,)}
        if part.window_size:
            yield in_windows(name, grid, (part.window_size,) * 2, **facts)
        else:
            yield over_grid(name, grid, **facts)


FAMILY = IformerFamily()
