"""Attention of one query in one block: every head's map, its strongest entries, and the window that it sees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.network_result import Links
from vitexplorer.core.text import SettingError
from vitexplorer.core.types import PatchGrid, Query, WindowLayout


@dataclass(frozen=True)
class Reads:
    """Attention of one query in all heads of a block."""

    maps: Float[np.ndarray, "heads rows cols"]
    """Attention on the patches of the key grid"""
    links: Links
    rest: Float[np.ndarray, " heads"]
    """Share of the attention on other keys than those of the links, padding of windows included"""


def reads_of(capture: Capture, query: Query, block: int, count: int) -> Reads:
    """Return the maps of a query and the `count` strongest keys of each head.

    Padding of windows is no key. A query that the block does not have reads nothing: no links, and NaN for the rest.
    """
    grid, names = capture.key_grid(block), capture.prefix_tokens
    try:
        on_patches, on_prefix, on_padding = (part.cpu() for part in capture.attention_from(query, block))
    except SettingError:
        heads = capture.num_heads(block)
        nothing = Links(np.zeros((heads, 0), int), np.zeros((heads, 0)))
        return Reads(np.zeros((heads, grid.rows, grid.cols)), nothing, np.full(heads, np.nan))
    prefix = [names.index(name) for name in capture.key_tokens(block)]
    places = np.concatenate([prefix, len(names) + np.arange(grid.num_patches)]).astype(int)
    weights, order = torch.cat([on_prefix, on_patches], dim=1).sort(dim=1, descending=True, stable=True)
    return Reads(
        maps=on_patches.reshape(-1, grid.rows, grid.cols).numpy(),
        links=Links(places[order[:, :count].numpy()], weights[:, :count].numpy()),
        rest=(weights[:, count:].double().sum(1) + on_padding).numpy(),
    )


def window_of(query: Query, grid: PatchGrid, windows: WindowLayout | None) -> tuple[int, int, int, int] | None:
    """Return top, left, height, width in cells of the window around a patch; it wraps around a shifted grid."""
    if windows is None or isinstance(query, str):
        return None
    positions = windows.positions(grid)
    (cells,) = (row for row in positions if query[0] * grid.cols + query[1] in row)
    cells = cells[-windows.window_size[0] * windows.window_size[1] :]  # prompts come before the window
    square = cells.reshape(windows.window_size) >= 0
    top, left = divmod(int(cells[0]), grid.cols)
    return top, left, int(square[:, 0].sum()), int(square[0].sum())
