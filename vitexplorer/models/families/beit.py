"""BEiT and BEiT v2 (arXiv 2106.08254, 2208.06366): a class token and a learned bias for relative positions.

The bias reaches the attention call as its mask, class token included, so a capture sees it.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from timm.models.beit import Beit
from torch import Tensor, nn

from vitexplorer.core.text import same
from vitexplorer.models.families.columnar import ColumnarFamily


class BeitFamily(ColumnarFamily):
    """Vision transformers with a relative position bias and a fixed input size."""

    title = same("BEiT")
    of = (Beit,)

    def relative_bias(self, module: nn.Module, block: int) -> Float[Tensor, "heads row_offsets col_offsets"] | None:
        """Return the sum of the block's own and the shared table, without the class token's three entries."""
        holders = [part for part in (module.blocks[block].attn, module.rel_pos_bias) if _has_table(part)]
        if not holders:
            return None
        rows, cols = (2 * side - 1 for side in holders[0].window_size)
        table = sum(part.relative_position_bias_table.detach() for part in holders)
        return table[: rows * cols].T.reshape(-1, rows, cols)

    def without_positions(self, module: nn.Module) -> tuple[tuple[Tensor, Tensor], ...]:
        """Return the position embedding and every block's bias, replaced by zeros."""
        parts = [module.rel_pos_bias, *(block.attn for block in module.blocks)]
        tables = [part.relative_position_bias_table for part in parts if _has_table(part)]
        return (*super().without_positions(module), *((table, torch.zeros_like(table)) for table in tables))


def _has_table(part: nn.Module | None) -> bool:
    return getattr(part, "relative_position_bias_table", None) is not None


FAMILY = BeitFamily()
