"""PVTv2 (arXiv 2106.13797): patches attend to keys reduced by a strided convolution, or by pooling to 7 x 7."""

from __future__ import annotations

from timm.models.pvt_v2 import Attention, PyramidVisionTransformerV2
from torch import nn

from vitexplorer.core.text import Text, same
from vitexplorer.core.types import BlockSite, PatchGrid
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, between


class PvtV2Family(AttentionOnlyFamily):
    """Pyramid vision transformers."""

    title = same("PVTv2")
    of = (PyramidVisionTransformerV2,)
    any_size = True
    left_out = Text(
        "blocks that pool to 7 x 7 keys when the grid is not divisible by 7",
        "网格不能被 7 整除时，池化到 7 x 7 个键的块",
    )
    attends_by = Attention

    def attention_of(self, name: str, part: nn.Module, grid: PatchGrid) -> Sites:
        """Yield a block, unless its pooling does not divide the grid evenly."""
        keys = _keys(part, grid)
        if keys is not None:
            yield BlockSite(name, grid, layout=between(grid, keys))


def _keys(attn: nn.Module, grid: PatchGrid) -> PatchGrid | None:
    if attn.pool is not None:
        side = attn.pool.output_size
        stride, rest = divmod(grid.rows, side)
        if rest or stride == 0 or (grid.rows, grid.cols) != (side * stride,) * 2:
            return None
    else:
        stride = attn.sr.stride[0] if attn.sr is not None else 1
    return PatchGrid(grid.rows // stride, grid.cols // stride, grid.patch_size * stride)


FAMILY = PvtV2Family()
