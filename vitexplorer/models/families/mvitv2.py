"""MViTv2 (arXiv 2112.01526): queries, keys and values pooled by strided convolutions, each with its own stride.

A pooled key is drawn at the cell in the middle of its kernel.
"""

from __future__ import annotations

from timm.models.mvitv2 import MultiScaleVit
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, between, grid_of


class Mvitv2Family(AttentionOnlyFamily):
    """Multiscale vision transformers."""

    title = same("MViTv2")
    of = (MultiScaleVit,)

    def sites(self, module: nn.Module, input_size: tuple[int, int]) -> Sites:
        """Yield the blocks of all stages."""
        cell = module.patch_embed.proj.stride[0]
        prefix = len(self.prefix_tokens(module))
        for s, stage in enumerate(module.stages):
            for b, block in enumerate(stage.blocks):
                keys = grid_of(input_size, cell * _stride(block.attn.pool_k), prefix)
                cell *= _stride(block.attn.pool_q)
                queries = grid_of(input_size, cell, prefix)
                yield BlockSite(f"stages.{s}.blocks.{b}.attn", queries, layout=between(queries, keys))


def _stride(pool: nn.Module | None) -> int:
    stride = getattr(pool, "stride", 1)
    return stride if isinstance(stride, int) else stride[0]


FAMILY = Mvitv2Family()
