"""Base of families that state only the attention of single blocks: hierarchies, hybrids, class attention.

Their blocks differ in grid, keys and windows, and are not joined by a plain residual stream. Maps of one block are
exact; views across blocks are refused. Block i is the i-th attention that can be shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from torch import Tensor, nn

from vitexplorer.core.text import Text
from vitexplorer.core.types import BlockSite, PatchGrid, TokenLayout, WindowLayout
from vitexplorer.models.family import ModelFamily

MIXED = Text(
    "The heads are mixed after the softmax: the weights may be negative and need not add up to 1.",
    "softmax 之后各头又被混合：权重可能为负，其和也不一定为 1。",
)
OTHER_KEYS = Text(
    "The map lies on the keys, {keys}; the queries are cells of {queries}.",
    "该图按键的网格（{keys}）绘制；查询取自 {queries} 的网格。",
)

Sites = Iterator[BlockSite]
"""Blocks as a family yields them, in order and without the notes that all families share"""


class AttentionOnlyFamily(ModelFamily):
    """Family that states the attention calls and the positions of their tokens, and nothing else.

    Its blocks are the parts of the classes `attends_by`. A family whose parts attend otherwise than over the whole grid
    of their stage overrides `attention_of`; one whose blocks are not such parts overrides `sites`.
    """

    shows_stream = False
    any_size: bool = False
    """True if the modules take other input sizes, unchanged or with new tables from timm"""
    formula: str = BlockSite.formula
    """Formula of the weights, where all blocks have the same"""
    left_out: Text | None = None
    """Attention of these models that is not shown, with the reason; None if all is shown"""

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """Return `sites` with notes: the name of the module, and the keys' grid if it differs from the queries'."""
        return tuple(_with_notes(site, block) for block, site in enumerate(self.sites(module, input_size)))

    def sites(self, module: nn.Module, input_size: tuple[int, int]) -> Sites:
        """Yield the attention of every part of the classes `attends_by`, in the order of the forward pass."""
        for name, part in module.named_modules():
            if isinstance(part, self.attends_by):
                yield from self.attention_of(name, part, stage_grid(module, name, input_size))

    def attention_of(self, name: str, part: nn.Module, grid: PatchGrid) -> Sites:
        """Yield the attention of one part: over its stage's whole grid, made coarser by an `att_stride` of the part."""
        yield over_grid(name, coarser(grid, getattr(part, "att_stride", 1)), formula=self.formula)

    def size_step(self, module: nn.Module) -> tuple[int, int] | None:
        """Return the cell size of the coarsest stage if the modules take any size, otherwise None."""
        if not self.any_size:
            return None
        coarsest = max(info["reduction"] for info in module.feature_info)
        return coarsest, coarsest


# ---------------------------------------------------------------------------------------------- grids and layouts


def grid_of(input_size: tuple[int, int], cell: int, num_prefix_tokens: int = 0) -> PatchGrid:
    """Return the grid of cells of `cell` pixels; a partial last cell counts, as in strided convolutions."""
    rows, cols = (-(-side // cell) for side in input_size)
    return PatchGrid(rows, cols, cell, num_prefix_tokens)


def stage_grid(module: nn.Module, name: str, input_size: tuple[int, int]) -> PatchGrid:
    """Return the grid of the stage that contains a part, by timm's reduction of the stage."""
    reductions = {info["module"]: info["reduction"] for info in module.feature_info}
    containing = [reduction for stage, reduction in reductions.items() if f"{name}.".startswith(f"{stage}.")]
    return grid_of(input_size, containing[0] if containing else max(reductions.values()))


def embedded(embed: nn.Module, input_size: tuple[int, int]) -> PatchGrid:
    """Return the grid of a timm patch embedding, without prefix tokens."""
    rows, cols = embed.dynamic_feat_size(input_size)
    return PatchGrid(rows, cols, embed.feat_ratio())


def with_prefix(grid: PatchGrid, count: int = 1) -> PatchGrid:
    """Return the grid of a sequence that begins with so many prefix tokens."""
    return replace(grid, num_prefix_tokens=count)


def coarser(grid: PatchGrid, stride: int) -> PatchGrid:
    """Return the grid that a convolution of this stride makes; a partial last cell counts."""
    return PatchGrid(-(-grid.rows // stride), -(-grid.cols // stride), grid.patch_size * stride)


def dilated(grid: PatchGrid, size: tuple[int, int]) -> TokenLayout:
    """Lay out windows of `size` tokens spread evenly over the grid (MaxViT, arXiv 2204.01697, section 3.2)."""
    rows, cols = size
    cells = grid.indices.reshape(rows, grid.rows // rows, cols, grid.cols // cols).transpose(1, 3, 0, 2)
    cells = np.ascontiguousarray(cells.reshape(-1, rows * cols))
    return TokenLayout(cells, cells, grid)


def between(queries: PatchGrid, keys: PatchGrid) -> TokenLayout:
    """Lay out attention from all patches of one grid to all of another; each grid's prefix tokens come first."""
    return TokenLayout(queries.positions, keys.positions, keys)


# ---------------------------------------------------------------------------------------------- sites


def over_grid(name: str, grid: PatchGrid, **facts: Any) -> BlockSite:
    """Describe attention from all tokens of a grid to all; `facts` are further fields of the site."""
    return BlockSite(name, grid, layout=between(grid, grid), **facts)


def in_windows(name: str, grid: PatchGrid, size: Sequence[int], **facts: Any) -> BlockSite:
    """Describe attention in windows of (height, width) patches that do not shift."""
    height, width = size
    return BlockSite(name, grid, windows=WindowLayout((height, width), (0, 0)), **facts)


def of_class(name: str, grid: PatchGrid) -> BlockSite:
    """Describe class attention (CaiT, arXiv 2103.17239, section 3): prefix tokens attend to themselves and patches."""
    queries = -1 - np.arange(grid.num_prefix_tokens)[None]
    return BlockSite(name, grid, layout=TokenLayout(queries, grid.positions, grid))


# ---------------------------------------------------------------------------------------------- axes


def heads_first(tensor: Tensor) -> Tensor:
    """Rearrange (batch of 1, heads, windows, tokens, dim) to (windows, heads, tokens, dim)."""
    return tensor[0].transpose(0, 1)


def windows_first(tensor: Tensor) -> Tensor:
    """Rearrange (batch of 1, windows, heads, tokens, dim) to (windows, heads, tokens, dim)."""
    return tensor[0]


def one_head(tensor: Tensor) -> Tensor:
    """Rearrange (windows, tokens, dim) to (windows, 1, tokens, dim), unless the fused kernel has that shape already."""
    return tensor if tensor.ndim == 4 else tensor[:, None]


# ---------------------------------------------------------------------------------------------- notes


def _with_notes(site: BlockSite, block: int) -> BlockSite:
    notes = [
        Text(
            "Block {block} is {module}; only attention that can be shown is counted.",
            "块 {block} 即 {module}；只对可显示的注意力编号。",
        ).format(block=block, module=site.name)
    ]
    if site.layout and (site.layout.key_grid.rows, site.layout.key_grid.cols) != (site.grid.rows, site.grid.cols):
        keys, queries = (f"{grid.rows} × {grid.cols}" for grid in (site.layout.key_grid, site.grid))
        notes.append(OTHER_KEYS.format(keys=keys, queries=queries))
    if site.mixes:
        notes.append(MIXED)
    return replace(site, notes=(*site.notes, *notes))
