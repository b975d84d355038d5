"""Cost against image size: torch's own count at the model's size, a count pair by pair, and how it grows."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import vitexplorer as vx
from tests.helpers.small_models import capture_small
from vitexplorer.figures import render
from vitexplorer.quantities.multiplications import MLP, PRODUCTS, PROJECTIONS
from vitexplorer.views.cost_growth import growth, sizes_up_to


def test_at_the_models_own_size_it_is_what_torch_counts(any_capture):
    """`cost` counts operation by operation; its rows of blocks are the sum of the three kinds here."""
    height, width = any_capture.input.pixels.shape[:2]
    if height != width:
        pytest.skip("only square images are compared")
    counted = vx.compute("cost", any_capture)
    in_blocks = [part.startswith("block ") for part in counted.parts]
    expected = counted.split[in_blocks].sum(0)[[PROJECTIONS, PRODUCTS, MLP]]
    windowed = int(any_capture.site(0).windows is not None)
    np.testing.assert_array_equal(growth(any_capture, (height,), None)[windowed, :, 0], expected)


def pairs_in_windows(rows: int, cols: int, prefix: int, side: int) -> int:
    """Count query-key pairs one by one; windows beyond the grid are full."""
    tall, wide = -(-rows // side) * side, -(-cols // side) * side
    cells = [(y // side, x // side) for y, x in product(range(tall), range(wide))]
    result = sum(a == b for a, b in product(cells, repeat=2))
    return result + len(cells) * prefix + prefix * (prefix + rows * cols)


@pytest.mark.parametrize("key", ["vit", "deit_distilled", "dinov3", "siglip"])
@pytest.mark.parametrize("side", [2, 3])
def test_windows_pair_by_pair(key, side):
    captured = capture_small(key)
    grid, size = captured.grid(0), captured.input.pixels.shape[0]
    result = growth(captured, (size,), side)[1, 1, 0]
    assert result == 3 * 2 * 48 * pairs_in_windows(grid.rows, grid.cols, len(captured.prefix_tokens), side)


def test_a_swin_without_windows_pair_by_pair():
    """Grids of 16, 8 and 4, two blocks each, widths 24, 48 and 96."""
    result = growth(capture_small("swin"), (64,), None)[0, 1, 0]
    assert result == sum(2 * 2 * side**4 * dim for side, dim in ((16, 24), (8, 48), (4, 96)))


def test_global_attention_grows_with_the_square_and_windows_do_not():
    captured = capture_small("siglip")
    one, two = growth(captured, (256, 512), 4).transpose(2, 0, 1)
    np.testing.assert_array_equal(two[0], one[0] * [4, 16, 4])
    np.testing.assert_array_equal(two[1], one[1] * 4)


def test_sizes():
    assert sizes_up_to(1024, 16) == (80, 176, 256, 336, 432, 512, 592, 688, 768, 848, 944, 1024)
    assert sizes_up_to(64, 16) == (16, 32, 48, 64)
    assert sizes_up_to(5, 16) == (16,)


def test_the_figure_stacks_what_was_counted():
    result = vx.compute("cost_growth", capture_small("vit"), largest=256)
    figure = render(result)
    charts = [trace for trace in figure.data if trace.type == "bar"]
    assert len(charts) == len(result.designs) == 2
    heights = [np.array(chart.width).reshape(len(result.sizes), 3) for chart in charts]
    for actual, counted in zip(heights, result.values, strict=True):
        np.testing.assert_allclose(actual / heights[0].sum(1)[-1], counted.T / result.values[0].sum(0)[-1], atol=1e-9)
