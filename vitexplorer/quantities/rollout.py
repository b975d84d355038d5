"""Shares of tokens pushed down through the blocks, for rollout and its class-specific relatives.

A row of a product M_L ... M_2 M_1 of one (tokens, tokens) matrix for each block is computed as a vector: it is
multiplied by M_L, then by M_(L-1), and so on, O(tokens^2) each, without any product of matrices. The matrices come a
few query rows at a time, as an attention call gives them, so none of them has to be complete either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.types import PatchGrid, Query

Pieces = Iterable[tuple[slice, Tensor]]
"""Query rows, and their weights for each key, (windows, queries, keys)."""


def push_averaged(shares: Float[Tensor, "rows windows tokens"], pieces: Pieces) -> Float[Tensor, "rows windows tokens"]:
    """Compute shares @ rownorm(0.5 E + 0.5 I): half stays in place, for the residual connection.

    A row is divided by its sum, or by the sum of its magnitudes if E has both signs.
    """
    pushed = torch.zeros_like(shares)
    for queries, rows in pieces:
        sums = 0.5 * rows.abs().sum(-1) + 0.5  # of the rows of 0.5 E + 0.5 I
        half = 0.5 * shares[..., queries] / sums
        pushed += torch.einsum("rwq,wqk->rwk", half, rows)
        pushed[..., queries] += half
    return pushed


def push_added(shares: Float[Tensor, "rows windows tokens"], pieces: Pieces) -> Float[Tensor, "rows windows tokens"]:
    """Compute shares @ (I + E)."""
    pushed = shares.clone()
    for queries, rows in pieces:
        pushed += torch.einsum("rwq,wqk->rwk", shares[..., queries], rows)
    return pushed


def push_stayed(shares: Float[Tensor, "rows windows tokens"], pieces: Pieces) -> Float[Tensor, "rows windows tokens"]:
    """Compute the part of `push_averaged` without attention: each token's own share of its row."""
    pushed = torch.zeros_like(shares)
    for queries, rows in pieces:
        pushed[..., queries] = 0.5 * shares[..., queries] / (0.5 * rows.abs().sum(-1) + 0.5)
    return pushed


Push = Callable[[Tensor, Pieces], Tensor]


def push_block(
    shares: Float[Tensor, "rows tokens"], capture: Capture, block: int, pieces: Pieces, push: Push = push_averaged
) -> Float[Tensor, "rows tokens"]:
    """Turn shares of a block's output tokens into shares of its input tokens; windows are cut and put back."""
    if capture.site(block).windows is None:
        return push(shares[:, None], pieces)[:, 0]
    places = torch.from_numpy(capture.positions(block)).to(shares.device)
    real = places >= 0
    in_windows = torch.where(real, shares[:, places.clamp(min=0)], 0)
    pushed = push(in_windows, pieces)
    return torch.zeros_like(shares).index_add_(1, places[real], pushed[:, real])


def unmerge(
    shares: Float[Tensor, "rows patches"], coarse: PatchGrid, fine: PatchGrid
) -> Float[Tensor, "rows finer_patches"]:
    """Split each patch's share in equal quarters among the 2 x 2 patches merged into it; padding's share is lost."""
    quarters = 0.25 * shares.reshape(-1, 1, coarse.rows, coarse.cols)
    return F.interpolate(quarters, scale_factor=2, mode="nearest")[:, 0, : fine.rows, : fine.cols].flatten(1)


def push_through(
    capture: Capture,
    shares: Float[Tensor, "rows tokens"],
    pieces_of: Callable[[int], Pieces],
    start_block: int = 0,
    push: Push = push_averaged,
) -> Float[Tensor, "rows start_tokens"]:
    """Turn mixtures of the last block's tokens into shares of the tokens that enter `start_block`.

    A token that a block renews has no source in earlier blocks: its share stays with it.
    """
    renewed = torch.tensor(capture.renewed_tokens, dtype=torch.long, device=shares.device)
    ended = shares.new_zeros(len(shares), len(renewed))
    for block in range(capture.depth - 1, start_block - 1, -1):
        if block + 1 < capture.depth and capture.grid(block) != capture.grid(block + 1):
            shares = unmerge(shares, capture.grid(block + 1), capture.grid(block))
        shares = push_block(shares, capture, block, pieces_of(block), push)
        ended += shares[:, renewed]
        shares = shares.index_fill(1, renewed, 0)
    return shares.index_add(1, renewed, ended)


def query_shares(capture: Capture, query: Query) -> Float[Tensor, " tokens"]:
    """Return the shares to push for a query: all for its last token, or even shares of the patches for "mean"."""
    block, num_prefix = capture.depth - 1, len(capture.prefix_tokens)
    shares = capture.input.tensor.new_zeros(num_prefix + capture.grid(block).num_patches)
    if query == "mean":
        shares[num_prefix:] = 1 / capture.grid(block).num_patches
    else:
        shares[capture.token(query, block)] = 1
    return shares
