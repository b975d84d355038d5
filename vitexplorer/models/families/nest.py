"""NesT (arXiv 2105.12723): attention inside square blocks of the image, which grow with each level."""

from __future__ import annotations

from timm.models.nest import Nest
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite, WindowLayout
from vitexplorer.models.families.attention_only import (
    AttentionOnlyFamily,
    heads_first,
    numbered,
    stage_grid,
)


class NestFamily(AttentionOnlyFamily):
    """Nested transformers."""

    key = "nest"
    title = same("NesT")
    of = (Nest,)

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List the blocks of every level."""
        windows = WindowLayout((module.block_size,) * 2, (0, 0))
        return numbered(
            BlockSite(
                name=f"levels.{s}.transformer_encoder.{i}.attn",
                grid=stage_grid(module, f"levels.{s}", input_size),
                windows=windows,
                arrange=heads_first,
            )
            for s, level in enumerate(module.levels)
            for i in range(len(level.transformer_encoder))
        )


FAMILY = NestFamily()
