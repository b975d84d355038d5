"""MobileViT (arXiv 2110.02178): convolutions, and attention between the pixels at one position of every 2 x 2 patch.

A feature map that is not a multiple of the patches is resampled first; such a stage is left out.
"""

from __future__ import annotations

from timm.models.byobnet import ByobNet
from timm.models.mobilevit import MobileVitBlock
from torch import nn

from vitexplorer.core.text import Text, same
from vitexplorer.core.types import BlockSite, PatchGrid
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, dilated


class MobilevitFamily(AttentionOnlyFamily):
    """Mobile hybrid networks; only the transformers inside their blocks."""

    title = same("MobileViT")
    of = (ByobNet,)
    any_size = True
    attends_by = MobileVitBlock
    left_out = Text(
        "stages whose feature map is resampled because the patches do not divide it",
        "特征图不能被图块整除、因而要重采样的阶段",
    )

    def attention_of(self, name: str, part: nn.Module, grid: PatchGrid) -> Sites:
        """Yield the attention of every transformer; a window has one token of each patch, spread over the image."""
        height, width = part.patch_size
        if grid.rows % height or grid.cols % width:
            return
        layout = dilated(grid, (grid.rows // height, grid.cols // width))
        for i in range(len(part.transformer)):
            yield BlockSite(f"{name}.transformer.{i}.attn", grid, layout=layout)


FAMILY = MobilevitFamily()
