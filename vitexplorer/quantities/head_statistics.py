"""Measures of attention heads: one number for each head of a block, averaged over its patch queries.

Each measure is a function of attention rows; `per_head` feeds it a few rows at a time, so no whole attention matrix has
to be in memory. Only patches count as queries: prefix tokens have no place in the image, and padding tokens of a window
are not part of it. In a windowed block a row ends where the window ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.stacking import stacked
from vitexplorer.core.text import Text
from vitexplorer.core.types import PADDING, PatchGrid

Measure = Callable[[Tensor, slice, Tensor], Tensor]
"""(weights (windows, heads, queries, keys), query rows, positions (windows, keys)) -> (windows, heads, queries)"""


def per_head(capture: Capture, block: int, measures: Mapping[str, Measure]) -> dict[str, Float[np.ndarray, " heads"]]:
    """Average measures over all patch queries of a block, for each head; each weight is computed once."""
    positions = torch.from_numpy(capture.positions(block)).to(capture.input.tensor.device)
    totals: dict[str, Tensor | float] = dict.fromkeys(measures, 0.0)
    for queries, weights in capture.call(block).in_pieces():
        real = (positions[:, None, queries] >= 0).to(weights.dtype)
        for name, measure in measures.items():
            rows = measure(weights, queries, positions) * real
            totals[name] = totals[name] + rows.sum((0, 2), dtype=torch.float64)
    patches = capture.grid(block).num_patches
    return {name: (total / patches).cpu().numpy() for name, total in totals.items()}


def over_blocks(
    capture: Capture, measures_of: Callable[[int], Mapping[str, Measure]]
) -> dict[str, Float[np.ndarray, "blocks heads"]]:
    """Compute `per_head` of every block; NaN fills the rows of blocks that have fewer heads than others."""
    blocks = [per_head(capture, block, measures_of(block)) for block in range(capture.depth)]
    return {name: stacked(block[name] for block in blocks) for name in blocks[0]}


def distances(capture: Capture, renormalise: bool = False) -> Float[np.ndarray, "blocks heads"]:
    """Compute the mean attention distance in pixels; cached for all views that show it."""
    name = "renormalised distances" if renormalise else "distances"
    if name not in capture.tables:
        tables = over_blocks(capture, lambda block: {name: distance(capture.grid(block), renormalise)})
        capture.tables[name] = tables[name]
    return capture.tables[name].copy()


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


def head_measures(capture: Capture, block: int) -> dict[str, Measure]:
    """Return every measure of a block's heads by name; `class_mass` needs a class token."""
    measures = {
        "distance": distance(capture.grid(block)),
        "entropy": entropy,
        "prefix_mass": mass_on(lambda positions: (positions < 0) & (positions > PADDING)),
        "self_mass": self_mass,
        "peak": peak,
    }
    if "cls" in capture.prefix_tokens:
        token = capture.prefix_tokens.index("cls")
        measures["class_mass"] = mass_on(lambda positions: positions == -1 - token)
    return measures
