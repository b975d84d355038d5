"""Queries and windows of a block, for the slow twins."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.helpers import reference
from vitexplorer.capturing.capture import Capture


def queries_of(captured: Capture, block: int) -> list:
    """List every kind of query that a block has: named tokens, the mean, patches at opposite corners and inside."""
    grid = captured.grid(block)
    named = [name for name in ("cls", "dist") if name in captured.prefix_tokens]
    return [*named, "mean", (0, 0), (grid.rows - 1, grid.cols - 1), (grid.rows // 2, grid.cols // 3)]


def windows_of(captured: Capture, block: int) -> list:
    """List the windows of a Swin block as the slow twin cuts them."""
    site = captured.site(block)
    return reference.window_positions(site.grid.rows, site.grid.cols, site.windows.window_size, site.windows.shift_size)


def swin_block(captured: Capture, block: int, attention: np.ndarray) -> dict[str, Any]:
    """Return a block of Swin as `reference.swin_rollout` takes it."""
    grid = captured.grid(block)
    return {"attention": attention, "rows": grid.rows, "cols": grid.cols, "windows": windows_of(captured, block)}
