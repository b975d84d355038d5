"""Similarity of position embeddings: learned tables, resampled grids, rotations, sinusoids."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from timm.layers import apply_rot_embed_cat, resample_abs_pos_embed

import vitexplorer as vx
from tests.helpers import reference_tokens
from tests.helpers.position_kinds import LEARNED, RELATIVE, ROTARY
from tests.helpers.small_models import RECIPES, capture_small
from vitexplorer.core.text import SettingError, UnsupportedError
from vitexplorer.core.types import BoardResult, MapResult


def board_of(vectors: np.ndarray, rows: int, cols: int) -> np.ndarray:
    """Compute cosines of all pairs, one by one."""
    cells = list(product(range(rows), range(cols)))
    board = np.zeros((rows, cols, rows, cols))
    for (i, a), (j, b) in product(enumerate(cells), repeat=2):
        board[(*a, *b)] = reference_tokens.cosine(vectors[i], vectors[j])
    return board


# ------------------------------------------------------------------------------------------------ learned


@pytest.mark.parametrize("key", LEARNED)
def test_learned_positions_where_nothing_is_resampled(key):
    captured = capture_small(key)
    grid = captured.grid(0)
    table = captured.model.module.pos_embed[0, -grid.num_patches :].detach().double().numpy()
    result = vx.compute("position_similarity", captured)
    assert isinstance(result, BoardResult)
    np.testing.assert_allclose(result.values, board_of(table, grid.rows, grid.cols), atol=1e-6)
    assert not any("resampled" in note.en for note in result.notes)


@torch.no_grad()
@pytest.mark.parametrize("key", [key for key in LEARNED if RECIPES[key].native_size])
def test_learned_positions_are_what_the_forward_pass_adds(key):
    """At another grid: the module's own position step, fed with zeros, leaves just the embedding."""
    captured = capture_small(key, "native")
    module, grid, prefix = captured.model.module, captured.grid(0), len(captured.prefix_tokens)
    zeros = torch.zeros(1, grid.rows, grid.cols, module.embed_dim)
    added = module._pos_embed(zeros)
    added = (added[0] if isinstance(added, tuple) else added)[0, prefix:]
    actual = captured.model.family.learned_positions(module, grid)
    torch.testing.assert_close(actual, added, rtol=0, atol=1e-6)
    result = vx.compute("position_similarity", captured)
    np.testing.assert_allclose(result.values, board_of(added.double().numpy(), grid.rows, grid.cols), atol=1e-5)
    assert any("resampled" in note.en for note in result.notes)


def test_resampling_is_bicubic():
    captured = capture_small("vit", "native")
    module, grid = captured.model.module, captured.grid(0)
    table = module.pos_embed[:, 1:].detach().reshape(1, 4, 4, -1).permute(0, 3, 1, 2)
    expected = F.interpolate(table, size=(grid.rows, grid.cols), mode="bicubic", antialias=True)
    result = captured.model.family.learned_positions(module, grid)
    torch.testing.assert_close(result, expected[0].flatten(1).T)


def test_one_patch_is_one_tile_of_the_board():
    captured = capture_small("vit", "native")
    board = vx.compute("position_similarity", captured).values
    for query in [(0, 0), (3, 5), "1,2", np.array([1, 2])]:
        tile = vx.compute("position_similarity", captured, query=query)
        assert isinstance(tile, MapResult)
        row, col = tile.query
        np.testing.assert_array_equal(tile.values, board[row, col])
        assert tile.values[row, col] == pytest.approx(1)


def test_a_board_is_symmetric(any_capture):
    if any_capture.model.name in RELATIVE:
        return
    board = vx.compute("position_similarity", any_capture).values
    np.testing.assert_allclose(board, board.transpose(2, 3, 0, 1), atol=1e-6)
    for row, col in np.ndindex(board.shape[:2]):
        assert board[row, col, row, col] == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("key", LEARNED)
def test_resampled_to_another_grid_is_timms_own_resampling(key):
    captured = capture_small(key)
    module, old = captured.model.module, captured.grid(0)
    prefix = module.pos_embed.shape[1] - old.num_patches
    table = resample_abs_pos_embed(module.pos_embed.detach(), [2, 7], [old.rows, old.cols], num_prefix_tokens=prefix)
    result = vx.compute("position_similarity", captured, grid=(2, 7))
    np.testing.assert_allclose(result.values, board_of(table[0, prefix:].double().numpy(), 2, 7), atol=1e-5)
    assert (result.grid.rows, result.grid.cols) == (2, 7)
    assert any("resampled to 2 x 7" in note.en for note in result.notes)


def test_the_native_grid_is_what_a_native_run_shows():
    """A run of 4 x 4 patches and a capture of 4 x 6 give the same board."""
    for key in ("vit", "dinov3"):
        asked = vx.compute("position_similarity", capture_small(key), grid="4x6")
        run = vx.compute("position_similarity", capture_small(key, "native"))
        np.testing.assert_allclose(asked.values, run.values, atol=1e-6)


def test_a_patch_keeps_its_place_on_another_grid():
    """4 x 4 to 2 x 8: the centre of row 3, column 1 is at 7/8 of the height and 3/8 of the width."""
    captured = capture_small("vit")
    tile = vx.compute("position_similarity", captured, query=(3, 1), grid=(2, 8))
    board = vx.compute("position_similarity", captured, grid=(2, 8))
    assert tile.query == (1, 3)
    np.testing.assert_array_equal(tile.values, board.values[1, 3])
    assert tile.image.shape == (2 * 16, 8 * 16, 3)
    assert tile.settings == {"query": (3, 1), "kind": "own", "grid": (2, 8)}


def test_grids_that_are_none():
    captured = capture_small("vit")
    for wrong in ("many", (0, 3), (3, 33), (1, 2, 3), "7x"):
        with pytest.raises(SettingError, match="each from 1 to 32"):
            vx.compute("position_similarity", captured, grid=wrong)
    control = vx.views()["position_similarity"].controls[-1]
    assert [key for key, _ in control.offered(captured)] == ["", "2,2", "6,6", "8,8"]


# ------------------------------------------------------------------------------------------------ rotary


@pytest.mark.parametrize("key", ROTARY)
@pytest.mark.parametrize("fit", ["squash", "native"])
def test_rotary_kernel_is_the_product_of_rotated_unit_vectors(key, fit):
    """Compute timm's own rotation of a unit vector with equal parts, averaged over blocks and heads."""
    captured = capture_small(key, fit)
    module, grid = captured.model.module, captured.grid(0)
    embed = module.rope.get_embed(shape=[grid.rows, grid.cols])
    half = getattr(module.blocks[0].attn, "rotate_half", False)
    dim = embed.shape[-1] // 2
    turned = apply_rot_embed_cat(torch.full((grid.num_patches, dim), dim**-0.5), embed, half=half).double()
    products = (turned @ turned.transpose(-2, -1)).reshape(-1, grid.num_patches, grid.num_patches).mean(0)
    result = vx.compute("position_similarity", captured, kind="rotary")
    shape = (grid.rows, grid.cols, grid.rows, grid.cols)
    np.testing.assert_allclose(result.values, products.detach().reshape(shape), atol=1e-5)


def test_models_with_both_say_so():
    notes = [note.en for note in vx.compute("position_similarity", capture_small("eva02")).notes]
    assert any("also has rotary positions" in note for note in notes)


@pytest.mark.parametrize(("key", "rotary"), [("vit", set()), ("eva02", {"rotary"}), ("dinov3", {"rotary"})])
def test_rotary_positions_are_offered_where_there_are_any(key, rotary):
    kind = next(control for control in vx.views()["position_similarity"].controls if control.name == "kind")
    assert {name for name, _ in kind.spec(capture_small(key)).options} == {"own", "sincos_1d", "sincos_2d", *rotary}


def test_rotary_positions_that_a_model_lacks_are_refused():
    with pytest.raises(SettingError, match=r"vit has no rotary positions\."):
        vx.compute("position_similarity", capture_small("vit"), kind="rotary")


# ------------------------------------------------------------------------------------------------ references


@pytest.mark.parametrize("kind", ["sincos_1d", "sincos_2d"])
def test_sinusoids(kind):
    captured = capture_small("vit", "native")
    grid, dim = captured.grid(0), 48
    vectors = [
        reference_tokens.sincos(row * grid.cols + col, dim)
        if kind == "sincos_1d"
        else reference_tokens.sincos_2d(row, col, dim)
        for row, col in product(range(grid.rows), range(grid.cols))
    ]
    result = vx.compute("position_similarity", captured, kind=kind)
    np.testing.assert_allclose(result.values, board_of(np.array(vectors), grid.rows, grid.cols), atol=1e-6)


def test_sinusoids_are_those_of_mae_up_to_order():
    """Reorder timm's 2-D table, which has the same numbers in another order of channels."""
    from timm.layers import build_sincos2d_pos_embed

    table = build_sincos2d_pos_embed([4, 6], dim=48).double().numpy()
    result = vx.compute("position_similarity", capture_small("vit", "native"), kind="sincos_2d")
    np.testing.assert_allclose(result.values, board_of(table, 4, 6), atol=1e-5)


# ------------------------------------------------------------------------------------------------ offsets


def test_views_of_position_refuse_what_has_none(any_capture):
    name = any_capture.model.name
    if name in RELATIVE:
        with pytest.raises(UnsupportedError, match="has no position embeddings, only offsets"):
            vx.compute("position_similarity", any_capture)
    else:
        with pytest.raises(UnsupportedError, match="adds no bias for relative positions"):
            vx.compute("relative_position_bias", any_capture)
    assert (name in RELATIVE) != (name in {*LEARNED, *ROTARY})


def test_only_patches_have_a_place():
    with pytest.raises(SettingError, match="Positions are compared between patches"):
        vx.compute("position_similarity", capture_small("vit"), query="cls")
    with pytest.raises(SettingError, match=r"There is no patch \(4, 0\)"):
        vx.compute("position_similarity", capture_small("vit"), query=(4, 0))
