"""The way of one patch to the answer: its token after a block, and the head in which the answer's token reads it most.

The reading token is the class token where it is a query of the block, otherwise the mean over patches. The strongest
head is the one whose attention (Vaswani et al. 2017, arXiv 1706.03762, equation 1) from the reading token to the patch
is largest. Without a chosen patch, the path follows the patch to which the reading token attends most, heads averaged.
"""

from __future__ import annotations

from dataclasses import dataclass

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import BlockQueryControl
from vitexplorer.core.types import PatchGrid, Query


@dataclass(frozen=True)
class TokenPath:
    """One patch, its token after a block, and one head's attention to it in this block."""

    block: int
    patch: tuple[int, int]
    """Row and column in the block's grid of queries"""
    norm: float | None
    """L2 norm of the token after the block; None for a model without a residual stream of tokens"""
    reader: Query
    """Token that reads the patch"""
    head: int
    share: float
    """Attention from the reader to the patch in this head, 0-1"""


def token_path(
    capture: Capture, block: int, patch: tuple[int, int] | None = None, head: int | None = None
) -> TokenPath:
    """Follow a patch, row and column of the block's grid, through a block.

    Without a patch it is the one that the reading token attends to most; without a head, the strongest.
    """
    queries, keys = capture.grid(block), capture.key_grid(block)
    reader = BlockQueryControl().default_after(capture, {"block": block})
    attention, _, _ = capture.attention_from(reader, block)
    if patch is None:
        most = divmod(int(attention.mean(0).argmax()), keys.cols)
        patch = _at_the_same_place(most, keys, queries)
    row, col = _at_the_same_place(patch, queries, keys)
    shares = attention[:, row * keys.cols + col]
    head = int(shares.argmax()) if head is None else head
    norm = None
    if capture.model.family.shows_stream and capture.model.family.shows_tokens:
        norm = float(capture.residual_after(block)[capture.token(patch, block)].double().norm())
    return TokenPath(block, patch, norm, reader, head, float(shares[head]))


def _at_the_same_place(patch: tuple[int, int], here: PatchGrid, there: PatchGrid) -> tuple[int, int]:
    """Return the patch of another grid that holds the centre of a patch."""
    row, col = (
        min(most - 1, (2 * at + 1) * here.patch_size // (2 * there.patch_size))
        for at, most in zip(patch, (there.rows, there.cols), strict=True)
    )
    return row, col
