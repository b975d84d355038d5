"""Hiera (arXiv 2306.00989): attention in mask units, then over the whole grid; queries are pooled between stages.

Tokens are stored in an order in which pooling is a maximum over neighbours in memory; their positions come from the
module's own `Unroll`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Int
from timm.models.hiera import Hiera, Unroll
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite, PatchGrid, TokenLayout
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, heads_first


class HieraFamily(AttentionOnlyFamily):
    """Hierarchical transformers without bells and whistles."""

    title = same("Hiera")
    of = (Hiera,)

    def sites(self, module: nn.Module, input_size: tuple[int, int]) -> Sites:
        """Yield all blocks; in the first block of a stage, queries are on its own grid, keys on the grid before."""
        key_order, keys = _order(module, 0), _grid(module, module.tokens_spatial_shape)
        for i, block in enumerate(module.blocks):
            order, grid = _order(module, i), _grid(module, module.reroll.schedule[i][1])
            in_units = block.attn.use_mask_unit_attn
            units = len(key_order) // (block.attn.q_stride * block.attn.window_size) if in_units else 1
            layout = TokenLayout(_in_units(order, units), _in_units(key_order, units), keys)
            yield BlockSite(f"blocks.{i}.attn", grid, layout=layout, arrange=heads_first if in_units else None)
            key_order, keys = order, grid


def _grid(module: Hiera, size: Sequence[int]) -> PatchGrid:
    rows, cols = size
    return PatchGrid(rows, cols, module.patch_stride[0] * module.tokens_spatial_shape[0] // rows)


def _order(module: Hiera, block: int) -> Int[np.ndarray, " tokens"]:
    """Return the patch index of each token of the sequence after a block."""
    schedule, size = module.reroll.schedule[block]
    places = torch.arange(size[0] * size[1], dtype=torch.float64)[None, :, None]
    return Unroll(size, (1, 1), schedule)(places)[0, :, 0].long().numpy()


def _in_units(order: Int[np.ndarray, " tokens"], units: int) -> Int[np.ndarray, "windows keys"]:
    """Split the sequence into mask units, which are its fast axis."""
    return np.ascontiguousarray(order.reshape(-1, units).T)


FAMILY = HieraFamily()
