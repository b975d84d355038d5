"""The benchmark that holds maps against the object's mask: its measures by hand, and one run on a bundled model."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.truth import maps_of, measure, overlap, points_at, table
from tests.small_models import capture_small
from vitexplorer.models.bundled.scenes import draw_scene
from vitexplorer.types import MapResult, PatchGrid, Provenance
from vitexplorer.words import same


def a_map(values: np.ndarray, cell: int = 4) -> MapResult:
    rows, cols = values.shape
    return MapResult(
        view="m",
        title=same("m"),
        values=values,
        axes=("rows", "cols"),
        unit=same("1"),
        formula="",
        provenance=Provenance("m", "random", "seed 0"),
        grid=PatchGrid(rows, cols, cell),
        image=np.zeros((rows * cell, cols * cell, 3), np.uint8),
    )


def test_pointing_looks_at_the_middle_of_the_highest_cell():
    values = np.array([[0.0, 1.0], [0.5, -9.0]])
    mask = np.zeros((8, 8), bool)
    mask[2, 6] = True
    assert points_at(a_map(values), mask)
    assert not points_at(a_map(-values), mask)  # now the lowest, row 1, column 1, is the highest
    mask[6, 6] = True
    assert points_at(a_map(-values), mask)


def test_overlap_by_hand():
    """0.6 of 0.3 + 0.2 + 0.05 is held by the first two cells: 32 pixels, of which the mask has 16 and 4 beside them."""
    values = np.array([[0.3, 0.2], [0.05, -5.0]])
    mask = np.zeros((8, 8), bool)
    mask[:4, :4] = True
    mask[4, 4:8] = True
    assert overlap(a_map(values), mask) == pytest.approx(16 / (32 + 4))
    assert overlap(a_map(np.zeros((2, 2))), mask) == 0
    assert overlap(a_map(-np.ones((2, 2))), mask) == 0


@pytest.mark.parametrize(("model", "explains"), [("swin", True), ("encoder", False)])
def test_every_map_has_a_place_in_the_table(model, explains):
    maps = maps_of(capture_small(model), 0)
    assert {"attention_map", "attention_rollout"} <= set(maps)
    assert ("random" in maps) == ("occlusion" in maps) == explains
    assert all(isinstance(result, MapResult) for result in maps.values())


def test_the_table_has_a_row_for_each_view_and_the_means():
    text = table({"a": {"pointing": [1, 0], "deletion": [0.25]}, "b": {"pointing": [1, 1]}})
    assert text.splitlines() == [
        "| view | pointing | deletion |",
        "| --- | --- | --- |",
        "| `a` | 0.500 | 0.250 |",
        "| `b` | 1.000 |  |",
    ]


@pytest.mark.thorough
def test_a_run_on_the_bundled_model():
    scores = measure("scenes_vit_patch16_192", [draw_scene("test", 0), draw_scene("test", 1)], num_untrained=1, steps=2)
    for measured in scores.values():
        assert set(measured) >= {"pointing", "overlap", "deletion", "insertion", "overlap, untrained"}
        assert all(0 <= value <= 1 for values in measured.values() for value in values)
        assert len(measured["pointing"]) == 2 * len(measured["pointing, untrained"]) == 2
