"""Hiera (arXiv 2306.00989): attention in mask units, then over the whole grid; queries are pooled between stages.

Tokens are stored in an order in which pooling is a maximum over neighbours in memory; their positions come from the
module's own `Unroll`.
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Int
from timm.models.hiera import Hiera, Unroll
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite, PatchGrid, TokenLayout
from vitexplorer.models.families.attention_only import (
    AttentionOnlyFamily,
    heads_first,
    numbered,
)


class HieraFamily(AttentionOnlyFamily):
    """Hierarchical transformers without bells and whistles."""

    key = "hiera"
    title = same("Hiera")
    of = (Hiera,)

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List all blocks; in the first block of a stage, queries are on its own grid, keys on the grid before."""
        sites = []
        stride = module.patch_stride[0]
        before = _order(module, 0), tuple(module.tokens_spatial_shape)
        for i, block in enumerate(module.blocks):
            after = _order(module, i), tuple(module.reroll.schedule[i][1])
            (key_order, key_size), (query_order, query_size) = before, after
            in_units = block.attn.use_mask_unit_attn
            units = len(key_order) // (block.attn.q_stride * block.attn.window_size) if in_units else 1
            layout = TokenLayout(
                _in_units(query_order, units),
                _in_units(key_order, units),
                PatchGrid(*key_size, stride * module.tokens_spatial_shape[0] // key_size[0]),
            )
            grid = PatchGrid(*query_size, stride * module.tokens_spatial_shape[0] // query_size[0])
            arrange = heads_first if in_units else None
            sites.append(BlockSite(f"blocks.{i}.attn", grid, layout=layout, arrange=arrange))
            before = after
        return numbered(sites)


def _order(module: Hiera, block: int) -> Int[np.ndarray, " tokens"]:
    """Return the patch index of each token of the sequence after a block."""
    schedule, size = module.reroll.schedule[block]
    places = torch.arange(size[0] * size[1], dtype=torch.float64)[None, :, None]
    return Unroll(size, (1, 1), schedule)(places)[0, :, 0].long().numpy()


def _in_units(order: Int[np.ndarray, " tokens"], units: int) -> Int[np.ndarray, "windows keys"]:
    """Split the sequence into mask units, which are its fast axis."""
    return np.ascontiguousarray(order.reshape(-1, units).T)


FAMILY = HieraFamily()
