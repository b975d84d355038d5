"""Measures of attention heads: one number for each head of a block, averaged over its patch queries.

Each measure is a function of attention rows; `per_head` feeds it a few rows at a time, so no whole attention matrix has
to be in memory. Only patches count as queries: prefix tokens have no place in the image, and padding tokens of a window
are not part of it. In a windowed block a row ends where the window ends.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.text import Text
from vitexplorer.core.types import PADDING, PatchGrid

Measure = Callable[[Tensor, slice, Tensor], Tensor]
"""(weights (windows, heads, queries, keys), query rows, positions (windows, keys)) -> (windows, heads, queries)"""


def per_head(capture: Capture, block: int, measure: Measure) -> Float[np.ndarray, " heads"]:
    """Average a measure over all patch queries of a block, for each head."""
    positions = torch.from_numpy(capture.positions(block)).to(capture.input.tensor.device)
    total: Tensor | float = 0.0
    for queries, weights in capture.call(block).in_pieces():
        real = (positions[:, None, queries] >= 0).to(weights.dtype)
        total = total + (measure(weights, queries, positions) * real).sum((0, 2), dtype=torch.float64)
    return (total / capture.grid(block).num_patches).cpu().numpy()


def over_blocks(capture: Capture, measure_of: Callable[[int], Measure]) -> Float[np.ndarray, "blocks heads"]:
    """Compute `per_head` of every block; NaN fills the rows of blocks that have fewer heads than others."""
    rows = [per_head(capture, block, measure_of(block)) for block in range(capture.depth)]
    table = np.full((len(rows), max(map(len, rows))), np.nan)
    for row, values in zip(table, rows, strict=True):
        row[: len(values)] = values
    return table


def distances(capture: Capture) -> Float[np.ndarray, "blocks heads"]:
    """Compute the mean attention distance in pixels, not renormalised; cached for all views that show it."""
    if "distances" not in capture.tables:
        capture.tables["distances"] = over_blocks(capture, lambda block: distance(capture.grid(block)))
    return capture.tables["distances"].copy()


UNEVEN_HEADS = Text(
    "Blocks differ in their number of heads; the heads they do not have are empty (NaN).",
    "各块的头数不同；不存在的头留空（NaN）。",
)


def uneven_heads(values: Float[np.ndarray, "blocks heads"]) -> Text | None:
    """Return a note on blocks with fewer heads, if the table has NaN."""
    return UNEVEN_HEADS if np.isnan(values).any() else None


# ---------------------------------------------------------------------------------------------- measures


def centres(positions: Int[Tensor, "windows tokens"], grid: PatchGrid) -> Float[Tensor, "windows tokens 2"]:
    """Compute row and column of each token's centre in pixels; tokens without a place are at the origin."""
    cells = positions.clamp(min=0)
    return grid.patch_size * torch.stack([cells // grid.cols, cells % grid.cols], dim=-1).float()


def distance(grid: PatchGrid, renormalise: bool = False) -> Measure:
    """Return the measure sum_j A_ij D_ij, D the distance between patch centres in pixels.

    j runs over patches: attention to prefix tokens and padding has no distance, so it counts as zero unless the row is
    renormalised: `renormalise` divides by sum_j A_ij.
    """

    def measure(weights: Tensor, queries: slice, positions: Tensor) -> Tensor:
        places = centres(positions, grid)
        real = (positions >= 0).to(weights.dtype)
        apart = torch.cdist(places[:, queries], places, compute_mode="donot_use_mm_for_euclid_dist")
        far = torch.einsum("whqk,wqk->whq", weights, apart * real[:, None])
        if not renormalise:
            return far
        on_patches = torch.einsum("whqk,wk->whq", weights, real)
        return far / on_patches.clamp(min=torch.finfo(weights.dtype).tiny)

    return measure


def entropy(weights: Tensor, queries: slice, positions: Tensor) -> Tensor:
    """Compute -sum_j A_ij log A_ij in nats, over all keys."""
    return torch.special.entr(weights).sum(-1)


def peak(weights: Tensor, queries: slice, positions: Tensor) -> Tensor:
    """Return the largest weight of the row."""
    return weights.amax(-1)


def self_mass(weights: Tensor, queries: slice, positions: Tensor) -> Tensor:
    """Return a token's attention to itself, A_ii."""
    return weights[:, :, :, queries].diagonal(dim1=-2, dim2=-1)


def mass_on(chosen: Callable[[Tensor], Bool[Tensor, "windows keys"]]) -> Measure:
    """Return the measure sum_j A_ij over the keys whose positions are chosen."""

    def measure(weights: Tensor, queries: slice, positions: Tensor) -> Tensor:
        return torch.einsum("whqk,wk->whq", weights, chosen(positions).to(weights.dtype))

    return measure


def prefix_mass() -> Measure:
    """Return the measure of the mass on all prefix tokens together."""
    return mass_on(lambda positions: (positions < 0) & (positions > PADDING))


def token_mass(token: int) -> Measure:
    """Return the measure of the mass on one prefix token, by its place in the sequence."""
    return mass_on(lambda positions: positions == -1 - token)
