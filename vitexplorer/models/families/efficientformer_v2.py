"""EfficientFormerV2 (arXiv 2212.08059): talking heads on a grid that may be halved first, and a step between stages.

Talking heads mix the heads after the softmax; the maps show the weights that multiply the values.
"""

from __future__ import annotations

from timm.models.efficientformer_v2 import Attention2d, Attention2dDownsample, EfficientFormerV2
from torch import nn

from vitexplorer.core.text import same
from vitexplorer.core.types import BlockSite, PatchGrid
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, between, grid_of, over_grid


class EfficientformerV2Family(AttentionOnlyFamily):
    """Hybrid networks; only the blocks with attention."""

    title = same("EfficientFormerV2")
    of = (EfficientFormerV2,)

    def sites(self, module: nn.Module, input_size: tuple[int, int]) -> Sites:
        """Yield the talking heads of the later stages, and the attention between one stage and the next."""
        for name, part in module.named_modules():
            if isinstance(part, Attention2dDownsample):
                queries = _grid(part.resolution2, input_size)
                yield BlockSite(name, queries, layout=between(queries, _grid(part.resolution, input_size)))
            elif isinstance(part, Attention2d):
                formula = "W softmax(V (q kᵀ / √d + bias))"
                yield over_grid(name, _grid(part.resolution, input_size), mixes=True, formula=formula)


def _grid(resolution: tuple[int, int], input_size: tuple[int, int]) -> PatchGrid:
    """Return the grid of `resolution`, which results from halving the input until so many rows are left."""
    cell = 1
    while -(-input_size[0] // cell) > resolution[0]:
        cell *= 2
    return grid_of(input_size, cell)


FAMILY = EfficientformerV2Family()
