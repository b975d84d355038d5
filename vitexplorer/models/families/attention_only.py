"""What the families share of which only the attention of single blocks is stated: hierarchies, hybrids, class blocks.

Their blocks differ in grid, keys and windows, and what lies between them is no plain residual stream: maps of one
block are exact, everything that joins blocks is refused. Block i is the i-th attention that can be shown.
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
    """Says where attention happens and which token lies where, and nothing of the rest."""

    shows_stream = False
    any_size: bool = False
    """whether its modules take other sizes, as they are or with tables that timm makes anew"""
    left_out: Text | None = None
    """which attention of these models is not shown, and why; None where all of it is"""

    def prefix_tokens(self, module: nn.Module) -> tuple[str, ...]:
        """None; families with a class token say so."""
        return ()

    def size_multiple(self, module: nn.Module) -> tuple[int, int] | None:
        """None: these are shown at the size they were built for."""
        return None

    def size_step(self, module: nn.Module) -> tuple[int, int] | None:
        """The cell of the coarsest stage where any size is taken."""
        if not self.any_size:
            return None
        coarsest = max(info["reduction"] for info in module.feature_info)
        return coarsest, coarsest

    def learned_grid(self, module: nn.Module) -> tuple[int, int] | None:
        """None: not stated."""
        return None

    def learned_positions(self, module: nn.Module, grid: PatchGrid) -> Float[Tensor, "patches dim"] | None:
        """None: not stated."""
        return None

    def rotary_positions(self, module: nn.Module, grid: PatchGrid) -> Float[Tensor, "patches angles"] | None:
        """None: not stated."""
        return None

    def relative_bias(self, module: nn.Module, block: int) -> Float[Tensor, "heads row_offsets col_offsets"] | None:
        """None: not stated."""
        return None

    def readings(self, module: nn.Module) -> tuple[Reading, ...]:
        """None: there is no stream to read."""
        return ()

    def own_reading(self, module: nn.Module) -> Reading:
        """The module's own pooling, whatever it is."""
        return "own"

    def final_norm(self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]) -> Tensor:
        """Raises UnsupportedError: not stated."""
        raise self._not_stated(module)

    def embedding(self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]) -> Tensor:
        """Raises UnsupportedError: not stated."""
        raise self._not_stated(module)

    def read_each(self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]) -> Tensor:
        """Raises UnsupportedError: not stated."""
        raise self._not_stated(module)

    def read_out(self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"], reading: Reading) -> Tensor:
        """Raises UnsupportedError: not stated."""
        raise self._not_stated(module)

    def _not_stated(self, module: nn.Module) -> UnsupportedError:
        return UnsupportedError(self.no_stream(type(module).__name__))


# ---------------------------------------------------------------------------------------------- grids and layouts


def grid_of(input_size: tuple[int, int], cell: int, num_prefix_tokens: int = 0) -> PatchGrid:
    """The grid of cells of `cell` pixels, counted up where the last one is cut, as strided convolutions do."""
    rows, cols = (-(-side // cell) for side in input_size)
    return PatchGrid(rows, cols, cell, num_prefix_tokens)


def indices(grid: PatchGrid) -> Int[np.ndarray, "rows cols"]:
    """Every patch's index at its place."""
    return np.arange(grid.num_patches).reshape(grid.rows, grid.cols)


def sequence(grid: PatchGrid, num_prefix_tokens: int = 0) -> Int[np.ndarray, "windows tokens"]:
    """Prefix tokens, then the patches row by row, in one window."""
    return np.concatenate([-1 - np.arange(num_prefix_tokens), np.arange(grid.num_patches)])[None]


def only_class(num_prefix_tokens: int = 1) -> Int[np.ndarray, "windows tokens"]:
    """Prefix tokens alone, in one window."""
    return -1 - np.arange(num_prefix_tokens)[None]


def dilated(grid: PatchGrid, size: tuple[int, int]) -> TokenLayout:
    """`size` tokens spread evenly over the whole grid see each other (MaxViT, arXiv 2204.01697, section 3.2)."""
    rows, cols = size
    cells = indices(grid).reshape(rows, grid.rows // rows, cols, grid.cols // cols).transpose(1, 3, 0, 2)
    cells = np.ascontiguousarray(cells.reshape(-1, rows * cols))
    return TokenLayout(cells, cells, grid)


def between(queries: PatchGrid, keys: PatchGrid) -> TokenLayout:
    """All patches of one grid look at all of another; each grid's own prefix tokens come first."""
    return TokenLayout(sequence(queries, queries.num_prefix_tokens), sequence(keys, keys.num_prefix_tokens), keys)


def class_only(grid: PatchGrid) -> TokenLayout:
    """Class attention (CaiT, arXiv 2103.17239, section 3): the prefix tokens look, at themselves and at the patches."""
    return TokenLayout(only_class(grid.num_prefix_tokens), sequence(grid, grid.num_prefix_tokens), grid)


# ---------------------------------------------------------------------------------------------- axes


def heads_first(tensor: Tensor) -> Tensor:
    """(batch of 1, heads, windows, tokens, dim) -> (windows, heads, tokens, dim)."""
    return tensor[0].transpose(0, 1)


def windows_first(tensor: Tensor) -> Tensor:
    """(batch of 1, windows, heads, tokens, dim) -> (windows, heads, tokens, dim)."""
    return tensor[0]


def one_head(tensor: Tensor) -> Tensor:
    """(windows, tokens, dim) -> (windows, 1, tokens, dim), which the kernel is given where that is used."""
    return tensor if tensor.ndim == 4 else tensor[:, None]


# ---------------------------------------------------------------------------------------------- what a person reads


def numbered(sites: Iterable[BlockSite]) -> tuple[BlockSite, ...]:
    """The sites in order, each with a note that names its module, and one on its keys' grid where it is another."""
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
    """Name and module of every part of a kind or of several, in the order of their definition and of the pass."""
    return [(name, part) for name, part in module.named_modules() if isinstance(part, kind)]


def stage_grid(module: nn.Module, name: str, input_size: tuple[int, int]) -> PatchGrid:
    """The grid of the stage that a part is in, by the reduction that timm states for it."""
    known = {info["module"]: info["reduction"] for info in module.feature_info}
    inside = [reduction for stage, reduction in known.items() if f"{name}.".startswith(f"{stage}.")]
    return grid_of(input_size, inside[0] if inside else max(known.values()))


def over_a_coarser_grid(module: nn.Module, kind: type[nn.Module], input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
    """Every part of a kind as attention among the places that a convolution with its `att_stride` leaves."""
    sites = []
    for name, attn in parts(module, kind):
        grid = grid_of(input_size, stage_grid(module, name, input_size).patch_size * attn.att_stride)
        sites.append(BlockSite(name, grid, layout=between(grid, grid), formula="softmax(q kᵀ / √d)"))
    return numbered(sites)


def over_the_grid(module: nn.Module, kind: type[nn.Module], input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
    """Every part of a kind as attention among all places of its stage's grid."""
    grids = ((name, stage_grid(module, name, input_size)) for name, _ in parts(module, kind))
    return numbered(BlockSite(name, grid, layout=between(grid, grid)) for name, grid in grids)
