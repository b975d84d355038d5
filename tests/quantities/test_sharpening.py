"""Maps sharper than a patch, against images moved by hand and cells averaged one by one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any, get_type_hints

import numpy as np
import pytest

import vitexplorer as vx
from tests.helpers.least_settings import cheaply
from tests.helpers.small_families import capture_case
from tests.helpers.small_models import capture_small
from vitexplorer.capturing.capture import Capture, ModelInput, capture_input
from vitexplorer.controls import BlockControl, NamedCapture
from vitexplorer.controls.explained import PatchAlike, Region
from vitexplorer.controls.sharpen import PASSES
from vitexplorer.core.registry import UnknownNameError
from vitexplorer.core.text import SettingError
from vitexplorer.core.types import MapResult
from vitexplorer.models.preprocess import normalise
from vitexplorer.quantities.sharpening import shift_order
from vitexplorer.views import refusal

SHARPENS = [key for key, view in vx.views().items() if any(control.name == "sharpen" for control in view.controls)]


def moved_by_hand(capture: Capture, down: int, right: int) -> Capture:
    """Capture the image moved pixel by pixel, mirrored at its upper and left edge."""
    pixels, moved = capture.input.pixels, np.empty_like(capture.input.pixels)
    for y, x in itertools.product(*map(range, pixels.shape[:2])):
        moved[y, x] = pixels[abs(y - down), abs(x - right)]
    preprocessing = capture.model.preprocessing
    tensor = normalise(moved, preprocessing.mean, preprocessing.std)
    original = capture.input
    return capture_input(
        capture.model, ModelInput(moved, tensor, original.content_box, original.fit, original.image_hash)
    )


def covering(row: int, col: int, side: int, down: int, right: int, rows: int, cols: int) -> tuple[int, int]:
    """Find the patch that covers most pixels of a patch's place after the move, the upper or left one of equals."""
    best, most = (row, col), -1
    for r, c in itertools.product(range(rows), range(cols)):
        high = max(0, min((r + 1) * side, (row + 1) * side + down) - max(r * side, row * side + down))
        wide = max(0, min((c + 1) * side, (col + 1) * side + right) - max(c * side, col * side + right))
        if high * wide > most:
            best, most = (r, c), high * wide
    return best


def sharpened_by_hand(view: str, capture: Capture, parts: int, **settings) -> np.ndarray:
    """Average, for each cell of the finer grid, the values of the patches over it in all moved images."""
    plain = vx.compute(view, capture, **settings)
    side, rows, cols = plain.grid.patch_size, plain.grid.rows, plain.grid.cols
    step = side // parts
    settings = dict(plain.settings)
    maps = {}
    for i, j in itertools.product(range(parts), repeat=2):
        moved = moved_by_hand(capture, i * step, j * step)
        if isinstance(settings.get("query"), tuple):
            at = covering(*settings["query"], side, i * step, j * step, rows, cols)
            maps[i, j] = vx.compute(view, moved, **settings | {"query": at}).values
        else:
            maps[i, j] = vx.compute(view, moved, **settings).values
    values = np.empty((rows * parts, cols * parts))
    for row, col in itertools.product(range(rows * parts), range(cols * parts)):
        over = [
            maps[i, j][(row + i) // parts, (col + j) // parts]
            for i, j in maps
            if (row + i) // parts < rows and (col + j) // parts < cols
        ]
        values[row, col] = np.mean(over, dtype=float)
    return values


@pytest.mark.parametrize(
    ("view", "model", "settings"),
    [
        ("attention_map", "vit", {}),
        ("attention_map", "vit", {"block": 0, "head": 1, "query": (1, 2)}),
        ("attention_map", "vit", {"query": (3, 3)}),  # the last patch: none lies below it
        ("attention_map", "swin", {"block": 0, "query": "mean"}),
        ("attention_rollout", "vit", {"query": (0, 3)}),
        ("patch_similarity", "vit", {"query": (2, 1)}),
        ("grad_cam", "vit", {"sign": "both"}),
        ("attn_lrp", "vit", {}),
        ("occlusion", "vit", {"baseline": "blur"}),
        ("legrad", "dinov2_registers", {}),
    ],
)
def test_a_sharpened_map_is_the_mean_of_the_moved_ones(view, model, settings):
    capture = capture_small(model)
    result = vx.compute(view, capture, sharpen=4, **settings)
    expected = sharpened_by_hand(view, capture, 2, **settings)
    assert result.values.shape == expected.shape
    np.testing.assert_allclose(result.values, expected, atol=1e-5 * np.abs(expected).max())


def test_sixteen_passes_are_four_by_four_shifts():
    capture = capture_small("vit")
    result = vx.compute("attention_map", capture, sharpen="16")
    expected = sharpened_by_hand("attention_map", capture, 4)
    np.testing.assert_allclose(result.values, expected, atol=1e-6)
    assert result.grid.patch_size == result.step == capture.grid(0).patch_size // 4
    assert (result.passes, result.settings["sharpen"]) == (16, 16)


def test_sixteen_passes_follow_the_query():
    """A move by three quarters of a patch takes the query to the next one; by a half or less it stays."""
    capture = capture_small("vit")
    result = vx.compute("patch_similarity", capture, query=(1, 2), sharpen=16)
    expected = sharpened_by_hand("patch_similarity", capture, 4, query=(1, 2))
    np.testing.assert_allclose(result.values, expected, atol=1e-5)


def test_one_pass_is_the_map_of_the_patches():
    capture = capture_small("vit")
    plain, one = vx.compute("attention_map", capture), vx.compute("attention_map", capture, sharpen=1)
    assert type(one) is MapResult
    assert one.settings == plain.settings
    np.testing.assert_array_equal(one.values, plain.values)
    sharp = vx.compute("attention_map", capture, sharpen=4)
    np.testing.assert_array_equal(sharp.of_patches().values, plain.values)
    assert vx.reading(sharp) == f"Before sharpening: {vx.reading(plain)}"
    assert vx.reading(sharp, "zh") == f"细化之前：{vx.reading(plain, 'zh')}"


def test_the_target_is_that_of_the_unmoved_image():
    capture = capture_small("vit")
    likeliest = int(capture.logits.argmax())
    assert vx.compute("grad_cam", capture, sharpen=4).settings["target"] == likeliest
    other = (likeliest + 1) % len(capture.logits)
    values = vx.compute("grad_cam", capture, target=other, sign="both", sharpen=4).values
    expected = sharpened_by_hand("grad_cam", capture, 2, target=other, sign="both")
    np.testing.assert_allclose(values, expected, atol=1e-5 * np.abs(expected).max())


def test_every_map_of_the_image_can_be_sharpened():
    maps = {key for key, view in vx.views().items() if get_type_hints(view.compute).get("return") is MapResult}
    assert set(SHARPENS) == maps - {"random", "position_similarity"}  # they do not depend on the image


@pytest.mark.parametrize("parts", [1, 2, 4, 8])
def test_the_first_shifts_are_evenly_spaced(parts):
    order = shift_order(parts)
    assert sorted(order) == list(itertools.product(range(parts), repeat=2))
    for fewer in (1, 2, 4, 8):
        if fewer <= parts:
            spacing = parts // fewer
            first = order[: fewer * fewer]
            assert sorted(first) == list(itertools.product(range(0, parts, spacing), repeat=2))


def offered(view: str, capture: Capture, settings: Mapping[str, Any]) -> set[int]:
    """Return the numbers of passes that the control of a view offers after its other settings."""
    return {int(passes) for passes, _ in vx.views()[view].controls[-1].spec(capture, settings).options}


@pytest.mark.parametrize("view", SHARPENS)
def test_the_passes_that_divide_the_cells_of_the_map_are_offered(view):
    captures = [*map(capture_small, ("vit", "swin", "dinov2_registers")), *map(capture_case, ("mvitv2_class", "xcit"))]
    for capture in captures:
        if refusal(view, capture) is not None:
            continue
        for block in (0, capture.depth - 1):
            chosen = {control.name: block for control in vx.views()[view].controls if isinstance(control, BlockControl)}
            result = cheaply(view, capture, **chosen)
            size = result.grid.patch_size
            assert offered(view, capture, result.settings) == {n for n in PASSES if size % math.isqrt(n) == 0}


def test_what_a_setting_rules_out_is_not_offered():
    capture = capture_small("vit")
    assert offered("grad_cam", capture, {"target": 3}) == {1, 4, 16, 64}
    assert offered("grad_cam", capture, {"target": PatchAlike((1, 1))}) == {1}
    assert offered("grad_cam", capture, {"target": Region(((0, 1), (1, 1)))}) == {1}
    assert offered("text_map", capture, {"other": NamedCapture("second", capture)}) == {1}
    assert offered("attention_map", vx.intervene(capture, "positions:how=off"), {"block": 0}) == {1}


def test_what_cannot_be_sharpened_is_refused_in_words():
    capture = capture_small("vit")
    with pytest.raises(UnknownNameError, match="sharpen"):
        vx.compute("attention_map", capture, sharpen=9)
    with pytest.raises(SettingError, match="cannot be one of them"):
        vx.compute("grad_cam", capture, target="patch 1,1", sharpen=4)
    with pytest.raises(SettingError, match="take the change away"):
        vx.compute("attention_map", vx.intervene(capture, "positions:how=off"), sharpen=4)
    swin = capture_small("swin")
    side = swin.grid(0).patch_size
    with pytest.raises(SettingError, match=f"{side} pixels wide"):
        vx.compute("attention_map", swin, block=0, sharpen=64)


def test_passes_are_reported_and_can_be_stopped():
    capture, reports = capture_small("vit"), []
    vx.compute("attention_map", capture, sharpen=16, progress=lambda done, of: reports.append((done, of)))
    assert reports[-1] == (16, 16)
    assert reports == sorted(reports)
    assert len(reports) >= 2

    def stop(done: int, of: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        vx.compute("attention_map", capture, sharpen=4, progress=stop)


def test_a_cell_of_the_figure_names_its_patch():
    result = vx.compute("attention_map", capture_small("vit"), query=(1, 2), sharpen=4)
    cells = next(trace for trace in vx.render(result).data if trace.type == "heatmap")
    rows, cols = result.values.shape
    assert cells.z.shape == (rows, cols)
    assert [*cells.customdata[0, 0]] == [0, 0]
    assert [*cells.customdata[-1, -1]] == [rows // 2 - 1, cols // 2 - 1]
