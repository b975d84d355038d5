"""The way of one patch, against attention and norms that are read cell by cell."""

from __future__ import annotations

import math

import pytest

from tests.helpers.small_families import CASES, capture_case
from vitexplorer.capturing.capture import Capture
from vitexplorer.core.text import ExplainedError
from vitexplorer.quantities.token_path import token_path


def shares_by_hand(capture: Capture, block: int, patch: tuple[int, int]) -> list[float]:
    """Read a patch's attention in every head, with the key under the patch's centre found by going over all keys."""
    reader = "cls" if "cls" in capture.queries(block) else "mean"
    attention = capture.attention_from(reader, block)[0].tolist()
    side, keys = capture.grid(block).patch_size, capture.key_grid(block)
    y, x = ((at + 0.5) * side for at in patch)
    rows = [row for row in range(keys.rows) if row * keys.patch_size <= y < (row + 1) * keys.patch_size]
    cols = [col for col in range(keys.cols) if col * keys.patch_size <= x < (col + 1) * keys.patch_size]
    return [head[rows[0] * keys.cols + cols[0]] for head in attention]


@pytest.mark.parametrize("key", CASES)
def test_the_path_of_a_patch_is_its_largest_share_and_its_norm(key: str) -> None:
    capture = capture_case(key)
    for block in {0, capture.depth - 1}:
        grid = capture.grid(block)
        patch = (grid.rows - 1, grid.cols // 2)
        path = token_path(capture, block, patch)
        shares = shares_by_hand(capture, block, patch)
        assert (path.patch, path.share) == (patch, max(shares))
        assert shares[path.head] == max(shares)
        assert token_path(capture, block, patch, head=0).share == shares[0]
        try:
            token = capture.residual_after(block)[capture.token(patch, block)].tolist()
        except ExplainedError:
            assert path.norm is None
        else:
            assert path.norm == pytest.approx(math.sqrt(sum(value**2 for value in token)), rel=1e-12)


@pytest.mark.parametrize("key", CASES)
def test_without_a_patch_the_path_follows_the_one_that_is_attended_to_most(key: str) -> None:
    capture = capture_case(key)
    block = capture.depth - 1
    path = token_path(capture, block)
    grid = capture.grid(block)
    every = [(row, col) for row in range(grid.rows) for col in range(grid.cols)]
    means = {patch: math.fsum(shares_by_hand(capture, block, patch)) for patch in every}
    assert means[path.patch] == pytest.approx(max(means.values()), rel=1e-6)
