"""Tokens of each family: their names, their places in the image, their windows."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
import timm
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.helpers import reference
from tests.helpers.meta_models import without_numbers
from tests.helpers.small_families import CASES, smallest_of
from tests.helpers.small_models import RECIPES, capture_small, load_small
from tests.helpers.unfused_attention import blocks_of, run_explicitly
from tests.helpers.windows_and_queries import windows_of
from vitexplorer.capturing.capture import capture
from vitexplorer.core.text import UnsupportedError
from vitexplorer.core.types import PADDING, PatchGrid, WindowLayout
from vitexplorer.models.families import FAMILIES, family_of


def test_every_family_has_a_small_model():
    whole = {key for key, family in FAMILIES.items() if family.shows_stream}
    assert {load_small(key).family.key for key in RECIPES} == whole
    assert {case.family for case in CASES.values()} == set(FAMILIES) - whole


def test_a_family_without_a_case_is_checked_on_its_smallest_model():
    case = smallest_of(FAMILIES["visformer"])
    with without_numbers():
        module = case.build(**case.options, num_classes=7)
    assert family_of(module, "smallest") is FAMILIES["visformer"]
    assert sum(parameter.numel() for parameter in module.parameters()) < 11e6  # tiny, not small


@pytest.mark.parametrize("key", FAMILIES)
def test_a_family_is_named_as_its_file(key):
    assert FAMILIES[key].key == key
    assert all(FAMILIES[key].title)


def test_a_class_is_of_one_family_or_of_several_that_attend_by_other_parts():
    """No stated class derives from another, so that the order of ancestors never decides."""
    stated: dict[type[nn.Module], list[tuple[type[nn.Module], ...]]] = {}
    for family in FAMILIES.values():
        attends_by = family.attends_by if isinstance(family.attends_by, tuple) else (family.attends_by,)
        for kind in family.of:
            stated.setdefault(kind, []).append(attends_by)
    for attending in stated.values():
        several = [part for parts in attending for part in parts]
        assert len(attending) == 1 or (all(attending) and len(set(several)) == len(several))
    assert all(one is other or not issubclass(one, other) for one in stated for other in stated)


def test_a_class_derived_from_a_known_one_is_of_its_family():
    class Mine(timm.models.VisionTransformer):
        pass

    module = Mine(img_size=32, embed_dim=24, depth=1, num_heads=2)
    assert family_of(module, "mine") is FAMILIES["vit"]


def test_prefix_tokens(any_model):
    assert any_model.prefix_tokens == RECIPES[any_model.name].prefix_tokens


def test_a_convolutional_network_is_of_no_family():
    module = timm.create_model("test_resnet")
    with pytest.raises(UnsupportedError, match=r"^test_resnet is a ResNet: it has no attention between the places of"):
        family_of(module, "test_resnet")


def test_block_names_are_module_names(any_capture):
    modules = dict(any_capture.model.module.named_modules())
    assert [modules[site.name] for site in any_capture.sites] == blocks_of(any_capture.model.module)


def test_native_sizes_are_those_the_module_takes(any_model):
    multiple = any_model.family.size_multiple(any_model.module)
    assert (multiple is None) == (RECIPES[any_model.name].native_size is None)
    if multiple is not None:
        pixels = torch.zeros(1, 3, 2 * multiple[0], 3 * multiple[1])
        with torch.no_grad():
            assert any_model.module(pixels).isfinite().all()


# ------------------------------------------------------------------------------------------------ patch grids


def changed_cells(grid: PatchGrid, features: Tensor, others: Tensor) -> list[tuple[int, int]]:
    """Return where the tokens that enter the first block differ."""
    changed = (features - others).abs().flatten(0, -2).amax(-1)[grid.num_prefix_tokens :] > 0
    return [divmod(int(i), grid.cols) for i in changed.nonzero()]


def test_a_patch_is_where_the_grid_says(any_capture):
    """Change the pixels of one cell: that token changes, and in a model without convolutions no other."""
    grid, module, before = any_capture.grid(0), any_capture.model.module, any_capture.input.tensor
    size = grid.patch_size
    for row, col in [(0, 0), (grid.rows - 1, 0), (1, grid.cols - 1)]:
        after = before.clone()
        after[..., row * size : (row + 1) * size, col * size : (col + 1) * size] += 1
        changed = changed_cells(
            grid, run_explicitly(module, before).residual[0], run_explicitly(module, after).residual[0]
        )
        if any_capture.model.name.startswith("hybrid"):
            assert (row, col) in changed
        else:
            assert changed == [(row, col)]


def test_cells_beyond_the_last_whole_patch_are_not_seen():
    """A 60 x 60 input in patches of 14: 4 x 4 of them, and the last 4 pixels of each row and column are cut."""
    model = load_small("uneven")
    (site, *_) = model.blocks((60, 60))
    assert (site.grid.rows, site.grid.cols, site.grid.patch_size) == (4, 4, 14)


def test_cell_size_doubles_with_each_stage():
    """Swin's grids for 40 x 40 pixels: 10, 5 and 3 cells of 4, 8 and 16 pixels, the last ones half padding."""
    grids = [site.grid for site in load_small("swin_padded").blocks((40, 40))]
    assert [(grid.rows, grid.cols, grid.patch_size) for grid in grids[::2]] == [(10, 10, 4), (5, 5, 8), (3, 3, 16)]


# ------------------------------------------------------------------------------------------------ windows

LAYOUTS = [
    (rows, cols, window, shift)
    for rows, cols in [(4, 4), (8, 12), (10, 7), (3, 5)]
    for window in [(4, 4), (2, 3), (7, 7)]
    for shift in [(0, 0), (window[0] // 2, window[1] // 2), (0, 1)]
]


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_window_positions(layout):
    rows, cols, window, shift = layout
    expected = [
        [PADDING if cell is None else cell[0] * cols + cell[1] for cell in cells]
        for cells in reference.window_positions(rows, cols, window, shift)
    ]
    assert WindowLayout(window, shift).positions(PatchGrid(rows, cols, 4)).tolist() == expected


def test_window_positions_by_hand():
    """A 2 x 3 grid in windows of 2 x 2, shifted by 1 each way.

    0 1 2   rolled up and left   4 5 3   padded   4 5 | 3 .
    3 4 5                        1 2 0            1 2 | 0 .
    """
    positions = WindowLayout((2, 2), (1, 1)).positions(PatchGrid(2, 3, 4))
    assert positions.tolist() == [[4, 5, 1, 2], [3, PADDING, 0, PADDING]]


SWINS = [(key, fit) for key in RECIPES if key.startswith("swin") for fit in ("squash", "native")]


def values_of(block: nn.Module, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return a Swin block's value projection of (1, rows, cols, dim) before any window, and that of padding."""
    dim, attn = x.shape[-1], block.attn
    weight = attn.qkv.weight[2 * dim :]
    if getattr(attn, "q_bias", None) is not None:  # Swin V2: no norm before, padding enters as zeros
        return F.linear(x, weight, attn.v_bias)[0].flatten(0, 1), attn.v_bias
    bias = attn.qkv.bias[2 * dim :]
    return F.linear(block.norm1(x), weight, bias)[0].flatten(0, 1), bias


@pytest.mark.parametrize(("key", "fit"), SWINS)
@torch.no_grad()
def test_window_attention_on_the_grid_gives_what_the_module_gives(key, fit):
    """The dense (patches x patches) matrix scattered from the windows, times values that never saw a window.

    A wrong roll, pad or partition gives every value to the wrong place; the module's own windows are undone by
    timm's functions on the way to the comparison.
    """
    captured = capture_small(key, fit)
    explicit = run_explicitly(captured.model.module, captured.input.tensor)
    for b, block in enumerate(blocks_of(captured.model.module)):
        grid, positions = captured.grid(b), captured.positions(b)
        windows = [[None if p == PADDING else divmod(int(p), grid.cols) for p in cells] for cells in positions]
        attention = captured.attention(b).double().numpy()
        dense, on_padding = reference.dense_attention(attention, grid.rows, grid.cols, windows)
        values, padding_value = values_of(block, explicit.residual[b])
        heads = len(dense)
        per_head = values.double().numpy().reshape(-1, heads, values.shape[1] // heads)
        product = np.einsum("hqk,khd->qhd", dense, per_head)
        product += on_padding.T[..., None] * padding_value.double().numpy().reshape(heads, -1)
        expected = unwindowed(explicit.product[b], block, grid)
        np.testing.assert_allclose(product.reshape(grid.num_patches, -1), expected.numpy(), atol=2e-5)


def unwindowed(products: Tensor, block: nn.Module, grid: PatchGrid) -> Tensor:
    """Put (windows, T, dim) back on the grid by timm's own `window_reverse` and roll."""
    height, width = block.window_size
    rows, cols = grid.rows + -grid.rows % height, grid.cols + -grid.cols % width
    whole = timm.models.swin_transformer.window_reverse(
        products.view(-1, height, width, products.shape[-1]), block.window_size, rows, cols
    )
    whole = whole[:, : grid.rows, : grid.cols]
    return torch.roll(whole, tuple(block.shift_size), dims=(1, 2))[0].flatten(0, 1)


def test_padding_mass_is_what_the_query_gives_to_padding():
    captured, most = capture_small("swin_padded"), 0.0
    for block in range(captured.depth):
        grid = captured.grid(block)
        attention, windows = captured.attention(block).double().numpy(), windows_of(captured, block)
        _, expected = reference.dense_attention(attention, grid.rows, grid.cols, windows)
        for row, col in [(0, 0), (grid.rows - 1, grid.cols - 1)]:
            result = captured.attention_from((row, col), block)[2]
            np.testing.assert_allclose(result.numpy(), expected[:, row * grid.cols + col], atol=1e-6)
        most = max(most, expected.max())
        mean = captured.attention_from("mean", block)[2]
        np.testing.assert_allclose(mean.numpy(), expected.mean(1), atol=1e-6)
    assert most > 0.1  # 10 x 10 cells in windows of 4: there is a lot


# ------------------------------------------------------------------------------------------------ permutation


@pytest.mark.parametrize("key", ["vit", "deit_distilled", "siglip"])
@torch.no_grad()
def test_without_positions_a_permuted_image_gives_a_permuted_map(key):
    model = load_small(key)
    module = copy.deepcopy(model.module)
    module.pos_embed.zero_()
    model = replace(model, module=module)
    rows, cols, size = 4, 4, 16
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (rows * cols, size, size, 3), dtype=np.uint8)
    order = rng.permutation(rows * cols)

    def image(patches):
        return patches.reshape(rows, cols, size, size, 3).swapaxes(1, 2).reshape(rows * size, cols * size, 3)

    plain, permuted = capture(model, image(pixels), "squash"), capture(model, image(pixels[order]), "squash")
    query = "cls" if model.prefix_tokens else "mean"
    for block in range(plain.depth):
        before, after = (c.attention_from(query, block)[0] for c in (plain, permuted))
        torch.testing.assert_close(after, before[:, order], atol=1e-5, rtol=0)
        assert not torch.allclose(after, before, atol=1e-3)
