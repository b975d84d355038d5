"""Scales of signed maps: one patch far beyond all others does not determine the colours of the rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest

from tests.helpers.figure_words import all_words
from vitexplorer.core.grids import PatchGrid
from vitexplorer.core.sharp_map import SharpMapResult
from vitexplorer.core.text import Text, same
from vitexplorer.core.types import MapResult, MethodsResult, PairResult, Provenance
from vitexplorer.figures import render
from vitexplorer.figures.colors import NO_BREAK_SPACE
from vitexplorer.figures.previews import preview
from vitexplorer.figures.scaling import typical_largest
from vitexplorer.figures.tables import as_csv

SIDE = 12
GRID = PatchGrid(SIDE, SIDE, 16)
COMMON = {
    "provenance": Provenance("tiny", "pretrained", "hub/tiny"),
    "view": "occlusion",
    "title": same("A map"),
    "unit": same("logit"),
    "formula": "x",
    "grid": GRID,
    "image": np.zeros((SIDE * 16, SIDE * 16, 3), np.uint8),
}


def plain_values(seed: int = 0) -> np.ndarray:
    """Return a signed map in which a tenth of the patches has the largest magnitude, 0.9."""
    return np.random.default_rng(seed).uniform(-1, 1, (SIDE, SIDE)).clip(-0.9, 0.9).astype(np.float32)


def outlying_values(*huge: float) -> np.ndarray:
    values = plain_values()
    values.flat[: len(huge)] = huge
    return values


def a_map(values: np.ndarray, **changes) -> MapResult:
    return MapResult(values=values, axes=("rows", "cols"), **COMMON | changes)


def percentile_by_hand(values: np.ndarray) -> float:
    """Return the 99th percentile of the finite magnitudes: sort them, and go 0.99 of the way from first to last."""
    magnitudes = sorted(abs(value) for value in values.ravel().tolist() if np.isfinite(value))
    place = 0.99 * (len(magnitudes) - 1)
    below = int(place)
    return magnitudes[below] + (place - below) * (magnitudes[below + 1] - magnitudes[below])


def test_the_percentile_is_that_of_numpy():
    values = np.random.default_rng(3).normal(size=(SIDE, SIDE))
    values[0, :3] = np.nan, np.inf, 50
    end = percentile_by_hand(values)
    assert typical_largest(values) == pytest.approx(end)
    assert 2 < end < 5


def heatmaps(figure: go.Figure) -> list[go.Heatmap]:
    return [trace for trace in figure.data if isinstance(trace, go.Heatmap)]


def bar_labels(figure: go.Figure, axis: str = "coloraxis") -> tuple[str, ...] | None:
    """Return the numbers of a colour bar without the space between them and its title; None for plotly's own."""
    bar = figure.layout[axis].colorbar
    if bar.ticktext is None:
        assert bar.ticksuffix == NO_BREAK_SPACE
        return None
    assert all(label.endswith(NO_BREAK_SPACE) for label in bar.ticktext)
    return tuple(label.removesuffix(NO_BREAK_SPACE) for label in bar.ticktext)


def test_one_huge_patch_lies_beyond_the_scale():
    result = a_map(outlying_values(50.0))
    table = as_csv(result)
    figure = render(result)
    (cells,) = heatmaps(figure)
    end = percentile_by_hand(result.values)
    assert (cells.zmin, cells.zmax) == pytest.approx((-end, end))
    assert figure.layout.coloraxis.cmax == pytest.approx(end)
    np.testing.assert_array_equal(cells.z, result.values)  # read out exactly on hovering
    assert as_csv(result) == table
    assert "1 patch beyond the scale" in all_words(figure)
    assert "99th percentile of the magnitudes; the largest is 50" in all_words(figure).replace("<br>", " ")
    assert "1 个图块超出标度" in all_words(render(result, language="zh"))
    labels = bar_labels(figure)
    assert labels == ("−0.900", "−0.450", "0", "0.450", "≥ 0.900")


def test_negative_patches_lie_beyond_the_lower_end():
    values = outlying_values(-50.0, 40.0, np.nan)
    values[1:] /= 100  # so that two patches do not reach the percentile
    figure = render(a_map(values), arrangement="side_by_side")
    assert "2 patches beyond the scale" in all_words(figure)
    labels = bar_labels(figure)
    assert labels[0].startswith("≤ −")
    assert labels[-1].startswith("≥ ")


@pytest.mark.parametrize(
    "values",
    [
        plain_values(),
        np.abs(outlying_values(50.0)),  # without a sign
        np.where(np.arange(SIDE * SIDE).reshape(SIDE, SIDE) == 5, -3.0, 0.0),  # its percentile is 0
        outlying_values(1.5 * float(np.percentile(np.abs(plain_values()), 98))),
        np.zeros((SIDE, SIDE)),
        np.full((SIDE, SIDE), np.nan),
    ],
)
def test_other_maps_end_at_their_largest_magnitude(values: np.ndarray):
    figure = render(a_map(values))
    (cells,) = heatmaps(figure)
    largest = np.abs(values[np.isfinite(values)]).max(initial=0) or 1.0
    assert cells.zmax == largest
    assert bar_labels(figure) is None
    assert "beyond" not in all_words(figure)


def test_a_cosine_with_the_query_keeps_its_maximum():
    values = 0.1 * plain_values()
    values[0, 0] = 1
    (cells,) = heatmaps(render(a_map(values, query=(0, 0), unit=Text("cosine", "余弦"))))
    assert cells.zmax == 1


def test_a_sharpened_map_counts_patches_not_cells():
    plain = outlying_values(50.0)
    values = np.kron(plain, np.ones((4, 4), np.float32))
    values[0, 1:4] = 0
    sharp = a_map(values, grid=PatchGrid(4 * SIDE, 4 * SIDE, 4))
    parts = {name: value for name, value in vars(sharp).items() if name != "values"}
    result = SharpMapResult(values=values, plain=plain, plain_grid=GRID, passes=16, **parts)
    assert "1 patch beyond the scale" in all_words(render(result))


def test_each_of_several_maps_ends_at_its_own_scale():
    values = np.stack([outlying_values(50.0), plain_values(), np.abs(plain_values(1))])
    names = ("occlusion", "attn_lrp", "random")
    result = MethodsResult(
        **COMMON | {"view": "side_by_side"},
        values=values,
        axes=("methods", "rows", "cols"),
        methods=names,
        titles=tuple(map(same, names)),
        units=(same("logit"),) * 3,
        grids=(GRID,) * 3,
        curves=("deletion", "insertion"),
        areas=None,
        passes=1,
    )
    figure = render(result)
    outlying, plain, chance = heatmaps(figure)
    assert (outlying.zmin, outlying.zmax) == (-1, 1)
    np.testing.assert_allclose(outlying.z, values[0] / percentile_by_hand(values[0]), rtol=1e-6)
    np.testing.assert_array_equal(outlying.customdata[..., 2], values[0])
    assert np.abs(plain.z).max() == chance.z.max() == 1
    assert bar_labels(figure) == ("−1.00", "−0.500", "0", "0.500", "≥ 1.00")
    assert all_words(figure).count("1 patch beyond") == 1
    assert "percentile of its magnitudes where patches lie beyond the scale" in all_words(figure).replace("<br>", " ")
    calm = replace(result, values=np.stack([plain_values(2), *values[1:]]))
    assert bar_labels(render(calm)) is None
    assert "share of the map's largest magnitude" in str(render(calm).layout.coloraxis.colorbar.title)


def test_two_maps_on_one_scale_end_together():
    """Equal colours mean equal values: only what outlies both maps lies beyond."""
    left, right = outlying_values(50.0), 2 * plain_values(1)
    result = PairResult(
        **COMMON | {"view": "maps"},
        values=np.stack([left, right]),
        axes=("sides", "rows", "cols"),
        other=right,
        other_grid=GRID,
        other_image=COMMON["image"],
        names=(same("left"), same("right")),
        agree=True,
    )
    figure = render(result)
    difference, *both = heatmaps(figure)
    end = percentile_by_hand(np.stack([left, right]))
    assert [cells.zmax for cells in both] == pytest.approx([end, end])
    assert difference.zmax == pytest.approx(percentile_by_hand(right - left))
    words = all_words(figure)
    assert words.count("1 patch beyond the scale") == 1  # of the left map, none of the right one
    assert words.count("2 patches beyond the scale") == 1  # of the difference, which has its own scale
    apart = render(replace(result, agree=False))
    assert all_words(apart).count("1 patch beyond the scale") == 1


def test_a_preview_has_the_colours_of_the_figure():
    values = outlying_values(50.0)
    clipped = a_map(values.clip(-0.9, 0.9))
    assert preview(a_map(values)) == preview(clipped)
