"""Attention maps and head galleries against their slow twins; the outline of a window."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import vitexplorer as vx
from tests.helpers import reference
from tests.helpers.small_models import RECIPES, capture_small
from tests.helpers.unfused_attention import run_explicitly
from tests.helpers.windows_and_queries import queries_of, windows_of
from vitexplorer.capturing.capture import Capture
from vitexplorer.quantities.reads import window_of

HEADS = (0, 1, "mean", "max", "min")


def attention_rows(captured: Capture, attention: np.ndarray, query, block: int) -> tuple[np.ndarray, ...]:
    """Return a query's shares for each head from the module's own softmax: patches, prefix tokens, padding."""
    grid, p = captured.grid(block), len(captured.prefix_tokens)
    if captured.site(block).windows:
        dense, on_padding = reference.dense_attention(attention, grid.rows, grid.cols, windows_of(captured, block))
    else:
        dense, on_padding = attention[0], np.zeros(attention.shape[1:3])
    if query == "mean":
        row, padding = dense[:, p:].mean(1), on_padding[:, p:].mean(1)
    else:
        token = captured.prefix_tokens.index(query) if isinstance(query, str) else p + query[0] * grid.cols + query[1]
        row, padding = dense[:, token], on_padding[:, token]
    return row[:, p:], row[:, :p], padding


# ------------------------------------------------------------------------------------------------ attention


def test_attention_map_and_head_gallery(any_capture, thorough):
    """Compare every head of every query in the gallery, and of each query the mean and one map in turn."""
    explicit = run_explicitly(any_capture.model.module, any_capture.input.tensor)
    for block, softmax in enumerate(explicit.attention):
        grid = any_capture.grid(block)
        for n, query in enumerate(queries_of(any_capture, block), block):
            parts = attention_rows(any_capture, softmax.double().numpy(), query, block)
            gallery = vx.compute("head_gallery", any_capture, block=block, query=query)
            assert gallery.values.shape == (any_capture.num_heads(block), grid.rows, grid.cols)
            np.testing.assert_allclose(gallery.values.reshape(len(parts[0]), -1), parts[0], atol=1e-5)
            np.testing.assert_allclose(gallery.prefix_weights, parts[1], atol=1e-5)
            np.testing.assert_allclose(gallery.padding_mass, parts[2], atol=1e-5)
            for head in HEADS if thorough else {"mean", HEADS[n % len(HEADS)]}:
                result = vx.compute("attention_map", any_capture, block=block, head=head, query=query)
                on_patches, on_prefix, on_padding = (reference.fused(part, head) for part in parts)
                np.testing.assert_allclose(result.values, on_patches.reshape(grid.rows, grid.cols), atol=1e-5)
                np.testing.assert_allclose(result.prefix_weights, on_prefix, atol=1e-5)
                assert result.prefix_mass == pytest.approx(on_prefix.sum(), abs=1e-5)
                assert result.padding_mass == pytest.approx(float(on_padding), abs=1e-5)


@pytest.mark.parametrize("key", [key for key in RECIPES if key.startswith("swin")])
def test_window_outline_holds_exactly_what_the_query_can_look_at(key):
    captured = capture_small(key)
    for block in range(captured.depth):
        grid, windows = captured.grid(block), windows_of(captured, block)
        for row, col in product(range(grid.rows), range(grid.cols)):
            (cells,) = (cells for cells in windows if (row, col) in cells)
            top, left, height, width = window_of((row, col), grid, captured.site(block).windows)
            outlined = {
                ((top + r) % grid.rows, (left + c) % grid.cols) for r, c in product(range(height), range(width))
            }
            assert outlined == {cell for cell in cells if cell is not None}
