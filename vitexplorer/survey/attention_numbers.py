"""Head statistics from a block's attention while it is in the cache: a few operations on freshly computed weights.

They equal those of `quantities/head_statistics.py`, but use the scores: with S' = (S - max S) log2 e and
Z = sum 2 ** S', the largest weight is 1 / Z and the entropy log Z - log 2 sum A S', so neither needs a pass over A.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor

from vitexplorer.core.grids import WindowLayout
from vitexplorer.core.types import PADDING, BlockSite, PatchGrid
from vitexplorer.quantities.head_statistics import centres

ROWWISE = ("peak", "entropy", "self_mass", "class_mass", "prefix_mass")
METRICS = (*ROWWISE, "distance")
LOG2_E = math.log2(math.e)


@dataclass(frozen=True, eq=False)
class BlockPlaces:
    """Places of a block's tokens in the layout of its attention: (images windows, heads, tokens, tokens)."""

    windows: int
    tokens: int
    rows: Float[Tensor, "windows tokens"]
    """Weights of a mean over patch queries: 1 / patches for a patch, 0 for other tokens"""
    apart: Float[Tensor, "windows tokens tokens"]
    """Distance in pixels between query and key patches, times `rows`; 0 if either is no patch"""
    prefix: int
    class_token: int | None
    """Index of the class token in the sequence, or None"""

    def take(self, weights: Tensor, shifted: Tensor, sums: Tensor, rows: Tensor, distance: Tensor) -> None:
        """Compute the statistics of a few images into `rows` and `distance`.

        Args:
            weights: attention, (images windows, heads, tokens, tokens).
            shifted: S', scores minus the largest of each row, times log2 e; overwritten.
            sums: sums of 2 ** S', (images windows, heads, tokens).
            rows: output for `ROWWISE`, (metrics, images windows, heads, tokens).
            distance: output, mean over the patches, (images, heads).
        """
        torch.reciprocal(sums, out=rows[0])
        torch.log(sums, out=rows[1])
        rows[1] -= math.log(2) * shifted.mul_(weights).sum(-1)
        rows[2] = weights.diagonal(dim1=-2, dim2=-1)
        if self.class_token is not None:
            rows[3] = weights[..., self.class_token]
        if self.prefix > (self.class_token is not None):
            torch.sum(weights[..., : self.prefix], -1, out=rows[4])
        if self.windows == 1:
            distance[:] = weights.flatten(2) @ self.apart.flatten()
        else:
            by_image = (len(distance), self.windows)
            far = shifted.unflatten(0, by_image)  # reuses the memory
            torch.mul(weights.unflatten(0, by_image), self.apart[:, None], out=far)
            torch.sum(far, (1, 3, 4), out=distance)

    def means(self, rows: Tensor, distance: Tensor) -> Float[Tensor, "metrics images heads"]:
        """Compute the means over patches of `METRICS`; NaN for the mass on a missing class token."""
        if self.class_token is None:
            rows[3] = torch.nan
        if not self.prefix:
            rows[4] = 0.0
        elif self.prefix == (self.class_token is not None):
            rows[4] = rows[3]
        if self.windows == 1:
            means = rows @ self.rows[0]
        else:
            means = (rows.unflatten(1, (len(distance), self.windows)) * self.rows[:, None]).sum((2, 4))
        return torch.cat([means, distance[None]])


def places_of(site: BlockSite, prefix_tokens: tuple[str, ...], device: torch.device) -> BlockPlaces | None:
    """Return the places of a block's tokens; None for a block with an unusual attention layout."""
    if site.layout is not None or site.arrange is not None or site.mixes:
        return None
    return _places(site.grid, site.windows, prefix_tokens, device)


@lru_cache(maxsize=256)
def _places(
    grid: PatchGrid, windows: WindowLayout | None, prefix_tokens: tuple[str, ...], device: torch.device
) -> BlockPlaces:
    prefix = grid.num_prefix_tokens
    positions = grid.positions if windows is None else windows.positions(grid)
    at = torch.from_numpy(positions).to(device)
    rows = (at >= 0).float() / grid.num_patches
    middles = centres(at, grid)
    apart = torch.cdist(middles, middles, compute_mode="donot_use_mm_for_euclid_dist")
    apart *= rows[:, :, None] * (at >= 0)[:, None]
    inside = prefix if windows is None else int(((at < 0) & (at > PADDING)).any())
    named = prefix_tokens.index("cls") if "cls" in prefix_tokens and inside else None
    return BlockPlaces(len(positions), positions.shape[1], rows, apart, inside, named)
