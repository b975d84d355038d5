"""BoTNet (arXiv 2101.11605) and HaloNet (arXiv 2103.12731): residual networks with attention in some blocks.

BoTNet attends over the whole grid. HaloNet cuts it into windows, each of which also attends to the patches in a halo
around it: a key lies in several windows, and padding beyond the edge of the image is not masked and receives attention.
In both, products of the queries with position vectors are part of the scores.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Int
from numpy.lib.stride_tricks import sliding_window_view
from timm.layers.bottleneck_attn import BottleneckAttn
from timm.layers.halo_attn import HaloAttn
from timm.models.byobnet import ByobNet
from torch import Tensor, nn

from vitexplorer.core.text import Text, same
from vitexplorer.core.types import PADDING, BlockSite, PatchGrid, TokenLayout, WindowLayout
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, between, grid_of, stage_grid

POOLED = Text(
    "What attention gives is averaged over 2 × 2 patches before it goes on.", "注意力的结果随后按 2 × 2 个图块取平均。"
)
HALO = Text(
    "Every window of queries also looks at a halo, {halo} patches wide on each side; beyond the edge it is padding, "
    "which is not masked.",
    "每个窗口的查询还会看四周各宽 {halo} 个图块的外围（halo）；超出图像边缘的部分是填充，没有加掩码。",
)


class ByoanetFamily(AttentionOnlyFamily):
    """Residual networks; only the blocks with attention."""

    title = same("BoTNet / HaloNet")
    of = (ByobNet,)
    attends_by = (BottleneckAttn, HaloAttn)
    left_out = Text(
        "lambda layers, where a network has them too: no softmax gives a patch weights on other patches",
        "lambda 层（如果网络中也有）：没有 softmax，得不到图块之间的权重",
    )

    def sites(self, module: nn.Module, input_size: tuple[int, int]) -> Sites:
        """Yield every attention, at the grid before the first block of a stage halves it."""
        for name, attn in module.named_modules():
            if isinstance(attn, self.attends_by):
                yield _site(name, attn, stage_grid(module, name, input_size), input_size)


def _site(name: str, attn: nn.Module, output: PatchGrid, input_size: tuple[int, int]) -> BlockSite:
    is_pooled = not isinstance(attn.pool, nn.Identity)
    is_halo = isinstance(attn, HaloAttn)
    stride = getattr(attn, "block_stride", 1)
    keys = grid_of(input_size, output.patch_size // (2 if is_pooled else stride))
    queries = grid_of(input_size, keys.patch_size * stride)
    return BlockSite(
        name,
        queries,
        layout=_halo(attn, queries, keys) if is_halo else between(queries, keys),
        arrange=_heads_first if is_halo else _heads_alone,
        flat=not is_halo,
        formula="softmax((q kᵀ + q rᵀ) / √d)" if attn.scale_pos_embed else "softmax(q kᵀ / √d + q rᵀ)",
        notes=(*((HALO.format(halo=attn.halo_size),) if is_halo else ()), *((POOLED,) if is_pooled else ())),
    )


def _halo(attn: nn.Module, queries: PatchGrid, keys: PatchGrid) -> TokenLayout:
    side = attn.block_size_ds
    return TokenLayout(
        WindowLayout((side, side), (0, 0)).positions(queries), _surrounded(keys, attn.block_size, attn.halo_size), keys
    )


def _surrounded(grid: PatchGrid, block: int, halo: int) -> Int[np.ndarray, "windows tokens"]:
    """Return every window of `block` x `block` patches extended by `halo` on each side, row by row."""
    padded = np.pad(grid.indices, halo, constant_values=PADDING)
    side = block + 2 * halo
    return sliding_window_view(padded, (side, side))[::block, ::block].reshape(-1, side * side).copy()


def _heads_alone(tensor: Tensor) -> Tensor:
    """Rearrange (heads, tokens, dim) of a batch of 1 to (1, heads, tokens, dim)."""
    return tensor[None]


def _heads_first(tensor: Tensor) -> Tensor:
    """Rearrange (heads, windows, tokens, dim) of a batch of 1 to (windows, heads, tokens, dim)."""
    return tensor.transpose(0, 1)


FAMILY = ByoanetFamily()
