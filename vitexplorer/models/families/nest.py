"""NesT (arXiv 2105.12723): attention inside square blocks of the image, which grow with each level."""

from __future__ import annotations

from timm.models.nest import Nest
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, heads_first, in_windows, stage_grid


class NestFamily(AttentionOnlyFamily):
    """Nested transformers."""

    title = same("NesT")
    of = (Nest,)

    def sites(self, module: nn.Module, input_size: tuple[int, int]) -> Sites:
        """Yield the blocks of every level."""
        for s, level in enumerate(module.levels):
            grid = stage_grid(module, f"levels.{s}", input_size)
            for i in range(len(level.transformer_encoder)):
                name = f"levels.{s}.transformer_encoder.{i}.attn"
                yield in_windows(name, grid, (module.block_size,) * 2, arrange=heads_first)


FAMILY = NestFamily()
