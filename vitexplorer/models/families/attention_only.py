"""Base of families that state only the attention of single blocks: hierarchies, hybrids, class attention.

Their blocks differ in grid, keys and windows, and are not joined by a plain residual stream. Maps of one block are
exact; views across blocks are refused. Block i is the i-th attention that can be shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int
from torch import Tensor, nn

from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.core.types import BlockSite, PatchGrid, Reading, TokenLayout
from vitexplorer.models.family import ModelFamily

MIXED = Text(
    "The heads are mixed after the softmax: the weights may be negative and need not add up to 1.",
    "softmax 之后各头又被混合：权重可能为负，其和也不一定为 1。",
)
OTHER_KEYS = Text(
    "The map lies on the keys, {keys}; the queries are cells of {queries}.",
    "图画在键的网格（{keys}）上；查询来自 {queries} 的网格。",
)


class AttentionOnlyFamily(ModelFamily):
    """Family that states the attention calls and the positions of their tokens, and nothing else."""

    shows_stream = False
    any_size: bool = False
    """True if the modules take other input sizes, unchanged or with new tables from timm"""
    left_out: Text | None = None
    """Attention of these models that is not shown, with the reason; None if all is shown"""

    def prefix_tokens(self, module: nn.Module) -> tuple[str, ...]:
        """Return (); families with a class token override this."""
        return ()

    def size_multiple(self, module: nn.Module) -> tuple[int, int] | None:
        """Return None: the size is fixed when the module is built."""
        return None

    def size_step(self, module: nn.Module) -> tuple[int, int] | None:
        """Return the cell size of the coarsest stage if the modules take any size, otherwise None."""
        if not self.any_size:
            return None
        coarsest = max(info["reduction"] for info in module.feature_info)
        return coarsest, coarsest

    def learned_grid(self, module: nn.Module) -> tuple[int, int] | None:
        """Return None: not stated."""
        return None

    def learned_positions(self, module: nn.Module, grid: PatchGrid) -> Float[Tensor, "patches dim"] | None:
        """Return None: not stated."""
        return None

    def rotary_positions(self, module: nn.Module, grid: PatchGrid) -> Float[Tensor, "patches angles"] | None:
        """Return None: not stated."""
        return None

    def relative_bias(self, module: nn.Module, block: int) -> Float[Tensor, "heads row_offsets col_offsets"] | None:
        """Return None: not stated."""
        return None

    def readings(self, module: nn.Module) -> tuple[Reading, ...]:
        """Return (): there is no stream to read."""
        return ()

    def own_reading(self, module: nn.Module) -> Reading:
        """Return the module's own pooling, whatever it is."""
        return "own"

    def final_norm(self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]) -> Tensor:
        """Refuse with UnsupportedError: not stated."""
        raise self._not_stated(module)

    def embedding(self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]) -> Tensor:
        """Refuse with UnsupportedError: not stated."""
        raise self._not_stated(module)

    def read_each(self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]) -> Tensor:
        """Refuse with UnsupportedError: not stated."""
        raise self._not_stated(module)

    def read_out(self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"], reading: Reading) -> Tensor:
        """Refuse with UnsupportedError: not stated."""
        raise self._not_stated(module)

    def _not_stated(self, module: nn.Module) -> UnsupportedError:
        return UnsupportedError(self.no_stream(type(module).__name__))


# ---------------------------------------------------------------------------------------------- grids and layouts


def grid_of(input_size: tuple[int, int], cell: int, num_prefix_tokens: int = 0) -> PatchGrid:
    """Return the grid of cells of `cell` pixels; a partial last cell counts, as in strided convolutions."""
    rows, cols = (-(-side // cell) for side in input_size)
    return PatchGrid(rows, cols, cell, num_prefix_tokens)


def indices(grid: PatchGrid) -> Int[np.ndarray, "rows cols"]:
    """Return every patch's index at its position in the grid."""
    return np.arange(grid.num_patches).reshape(grid.rows, grid.cols)


def sequence(grid: PatchGrid, num_prefix_tokens: int = 0) -> Int[np.ndarray, "windows tokens"]:
    """Return one window of the prefix tokens, then the patches row by row."""
    return np.concatenate([-1 - np.arange(num_prefix_tokens), np.arange(grid.num_patches)])[None]


def only_class(num_prefix_tokens: int = 1) -> Int[np.ndarray, "windows tokens"]:
    """Return one window of the prefix tokens alone."""
    return -1 - np.arange(num_prefix_tokens)[None]


def dilated(grid: PatchGrid, size: tuple[int, int]) -> TokenLayout:
    """Lay out windows of `size` tokens spread evenly over the grid (MaxViT, arXiv 2204.01697, section 3.2)."""
    rows, cols = size
    cells = indices(grid).reshape(rows, grid.rows // rows, cols, grid.cols // cols).transpose(1, 3, 0, 2)
    cells = np.ascontiguousarray(cells.reshape(-1, rows * cols))
    return TokenLayout(cells, cells, grid)


def between(queries: PatchGrid, keys: PatchGrid) -> TokenLayout:
    """Lay out attention from all patches of one grid to all of another; each grid's prefix tokens come first."""
    return TokenLayout(sequence(queries, queries.num_prefix_tokens), sequence(keys, keys.num_prefix_tokens), keys)


def class_only(grid: PatchGrid) -> TokenLayout:
    """Lay out class attention (CaiT, arXiv 2103.17239, section 3): prefix tokens attend to themselves and patches."""
    return TokenLayout(only_class(grid.num_prefix_tokens), sequence(grid, grid.num_prefix_tokens), grid)


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


def numbered(sites: Iterable[BlockSite]) -> tuple[BlockSite, ...]:
    """Add notes to the sites: the name of the module, and the keys' grid if it differs from the queries'."""
    return tuple(_with_notes(site, block) for block, site in enumerate(sites))


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


# ---------------------------------------------------------------------------------------------- finding the blocks


def parts(module: nn.Module, kind: type[nn.Module] | tuple[type[nn.Module], ...]) -> list[tuple[str, nn.Module]]:
    """Return name and module of every part of the given class or classes, in the order of the forward pass."""
    return [(name, part) for name, part in module.named_modules() if isinstance(part, kind)]


def stage_grid(module: nn.Module, name: str, input_size: tuple[int, int]) -> PatchGrid:
    """Return the grid of the stage that contains a part, by timm's reduction of the stage."""
    reductions = {info["module"]: info["reduction"] for info in module.feature_info}
    containing = [reduction for stage, reduction in reductions.items() if f"{name}.".startswith(f"{stage}.")]
    return grid_of(input_size, containing[0] if containing else max(reductions.values()))


def over_a_coarser_grid(module: nn.Module, kind: type[nn.Module], input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
    """List every part of a class as attention over its stage's grid, made coarser by its `att_stride`."""
    sites = []
    for name, attn in parts(module, kind):
        grid = grid_of(input_size, stage_grid(module, name, input_size).patch_size * attn.att_stride)
        sites.append(BlockSite(name, grid, layout=between(grid, grid), formula="softmax(q kᵀ / √d)"))
    return numbered(sites)


def over_the_grid(module: nn.Module, kind: type[nn.Module], input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
    """List every part of a class as attention over its stage's whole grid."""
    grids = ((name, stage_grid(module, name, input_size)) for name, _ in parts(module, kind))
    return numbered(BlockSite(name, grid, layout=between(grid, grid)) for name, grid in grids)
