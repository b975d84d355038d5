"""Renderers of all result types: every view's result is drawn, and its numbers can be saved."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields

import numpy as np
import plotly.graph_objects as go
import pytest

import vitexplorer as vx
from tests.helpers.expected_refusals import NO_CLASS_TOKEN, is_refused
from tests.helpers.figure_words import CHINESE, all_words, every_word
from tests.helpers.least_settings import cheaply, run_once
from tests.helpers.small_captioner import with_captioner
from tests.helpers.small_models import capture_small
from tests.helpers.thorough import quick
from vitexplorer.comparisons import compare
from vitexplorer.core.check_up_results import AnsweredPicturesResult, TwoMatricesResult
from vitexplorer.core.settings import ASSETS
from vitexplorer.core.sharp_map import SharpMapResult
from vitexplorer.core.text import Text
from vitexplorer.core.types import (
    ConfusionResult,
    EvaluationResult,
    MatrixResult,
    ParetoResult,
    PerClassResult,
    Provenance,
    ReconstructionResult,
    ResidualsResult,
    Result,
)
from vitexplorer.figures import render
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.caption import caption
from vitexplorer.figures.chart import Chart, ticks
from vitexplorer.figures.renderers.gallery import apart, sheet
from vitexplorer.figures.renderers.head import key_text
from vitexplorer.figures.renderers.matrix import runs
from vitexplorer.figures.rendering import RENDERERS
from vitexplorer.figures.tables import as_csv, as_json
from vitexplorer.figures.tiles import tiles
from vitexplorer.interventions import intervene
from vitexplorer.views import VIEWS, compute

IN_WORDS = [
    ("attention_rollout", {"head_fusion": "max", "discard_ratio": 0.5, "start_block": 1}),
    ("token_pca", {"norm": True, "foreground": True}),
    ("occlusion", {"baseline": "blur"}),
    ("logit_lens", {"token": "own"}),
    ("position_similarity", {"kind": "sincos_2d"}),
    ("attention_distance", {"normalise": "renormalised"}),
    *(("head_atlas", {"metric": metric}) for metric in ("class_mass", "prefix_mass", "self_mass", "peak")),
]
"""Settings whose names or values would be read in English"""
OF_TRAININGS = {ConfusionResult, ParetoResult, PerClassResult, ResidualsResult}
"""Result types of no view: tests/ui/rooms/finetune/test_room.py draws them"""
OF_CHECK_UPS = {AnsweredPicturesResult, TwoMatricesResult}
"""Result types of no view: tests/diagnosis/test_proofs.py draws them"""
MORE = [
    ("attention_map", {"sharpen": 4}),
    ("logit_lens", {"token": "patches"}),
    ("head_atlas", {"metric": "entropy"}),
    ("token_pca", {"foreground": True}),
]


def a_matrix(**changes) -> MatrixResult:
    values = np.array([[1.0, 2.0, np.nan], [3.0, 4.0, 5.0]])
    options = {"provenance": Provenance("tiny", "pretrained", "hub/tiny"), "unit": Text("pixels", "像素")}
    title = Text("A matrix", "一个矩阵")
    options |= {"view": "m", "title": title, "values": values, "axes": ("blocks", "heads"), "formula": "x"}
    return MatrixResult(**options | changes)


def subclasses(kind: type) -> set[type]:
    return {one for child in kind.__subclasses__() for one in ({child} | subclasses(child))}


def own_results() -> set[type]:
    return {kind for kind in subclasses(Result) if kind.__module__.startswith("vitexplorer.core.")}


def test_every_type_of_result_has_a_renderer_of_its_own():
    drawn_as_a_map = {SharpMapResult}
    assert {renderer.result for file in RENDERERS.values() for renderer in file} == own_results() - drawn_as_a_map


def results_of(geometry: str, asked: list[tuple[str, dict]], views: Iterable[str] = VIEWS) -> Iterator[Result]:
    """Yield every view's result on small models that it supports, and the extra results below."""
    for view, settings in [*((view, {}) for view in views), *asked]:
        no_class = settings.get("metric") == "class_mass" and geometry in NO_CLASS_TOKEN
        if not is_refused(view, geometry) and not no_class:
            yield cheaply(view, capture_small(geometry), **settings)


def assert_in_one_language(result: Result, figure: go.Figure, language: str) -> None:
    figure.to_json()
    assert bool(CHINESE.search(all_words(figure))) == (language == "zh"), result.view
    assert result.title.in_(language) in all_words(figure).replace("<br>", " "), result.view
    assert max(note.x for note in figure.layout.annotations) <= figure.layout.width, result.view


@pytest.mark.parametrize("geometry", ["vit", "swin"])
def test_every_view_is_drawn_and_saved(geometry):
    drawn = set()
    for result in results_of(geometry, MORE):
        view = result.view
        drawn.add(view)
        assert_in_one_language(result, render(result, language="en", theme="light"), "en")
        text = caption(result)
        assert not CHINESE.search(text.en)
        assert CHINESE.search(text.zh)
        head, *rows = csv.reader(io.StringIO(as_csv(result)))
        assert len(set(head)) == len(head) >= result.values.ndim + 1, view
        assert head[-1] == "value"
        assert len(rows) == result.values.size
        assert json.loads(as_json(result))["type"] == type(result).__name__
    assert len(drawn) > 20


FORMULAS = (
    r"softmax|sigmoid|relu|rownorm|fuse|norm1?|mean|max|argmax|sin|cos|ln|bias|row|col|cls|"
    r"[A-Za-z]{1,2}|[A-Za-z]_\w*|(mean|max)_\w|N_"
)
"""Functions and symbols of mathematics"""
FIELD = (
    r"[Ll]ogits?|rollout|gradient|LeGrad|MaskCLIP|NACLIP|(Attn)?LRP|PCA|MLP|MACs?|RGB|LayerNorm|LayerScale|Swin|CNN|attn_pool|buffer|"
    r"NaN|nat|L2"
)
"""Latin words that Chinese lectures use too"""
LATIN = re.compile(f"{FORMULAS}|{FIELD}")
GEOMETRIES = (
    "vit",
    "deit_distilled",
    "dinov2_registers",
    "beit",
    "dinov3",
    "siglip",
    "encoder",
    "swin_padded",
    "swinv2",
)


def english_words(figure: go.Figure, provenance: Provenance) -> set[str]:
    """Return words in Latin letters that are neither names nor mathematics."""
    text = " ".join(every_word(figure))
    for name in (provenance.model, provenance.image_hash[:8]):
        text = text.replace(name, " ")
    text = re.sub(r"scenes_\w+|generic relevance|Grad-CAM", " ", text)
    return {word for word in re.findall(r"[A-Za-z][A-Za-z_0-9]*", text) if not LATIN.fullmatch(word)}


@pytest.mark.parametrize("geometry", quick(GEOMETRIES, keep=["vit", "dinov2_registers", "encoder", "swin_padded"]))
def test_a_chinese_figure_has_no_english_word(geometry, thorough):
    views = VIEWS if geometry == "vit" or thorough else run_once()
    for result in results_of(geometry, [*MORE, *IN_WORDS], views):
        figure = render(result, language="zh", theme="dark")
        assert english_words(figure, result.provenance) == set(), result.view
        assert_in_one_language(result, figure, "zh")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_caption_is_drawn(language):
    captured = vx.capture(vx.load_model("scenes_captioner", device="cpu"), ASSETS / "examples" / "scene_red_gear.webp")
    result = compute("caption", captured, written_in=language)
    figure = render(result, language=language)
    assert_in_one_language(result, figure, language)
    assert result.sentence in all_words(figure)
    if language == "zh":
        assert english_words(figure, result.provenance) == set()


def test_every_type_of_result_is_among_them():
    made = {type(result) for geometry in ("vit", "swin_padded") for result in results_of(geometry, MORE)}
    made.add(type(compute("before_after", intervene(capture_small("vit"), "top_k:k=2"))))
    made |= {
        type(compare(key, capture_small("vit"), capture_small("vit"))) for key in ("maps", "cka", "answers", "network")
    }
    made.add(type(compute("caption", with_captioner(capture_small("vit")))))
    made.add(type(compare("shared_pca", *[capture_small("vit")] * 2, images=[capture_small("vit")])))
    assert made == own_results() - OF_TRAININGS - OF_CHECK_UPS - {
        EvaluationResult,  # made of many images: the next test draws it
        ReconstructionResult,  # asks for a decoder: test_mae.py draws it
    }


def test_the_table_of_an_evaluation_is_drawn_in_both_languages():
    trusted = compute("trust", capture_small("vit"), methods=("attention_rollout", "grad_cam"), steps=2)
    table = EvaluationResult(**{part.name: getattr(trusted, part.name) for part in fields(EvaluationResult)})
    for language in ("en", "zh"):
        figure = render(table, language=language)
        assert_in_one_language(table, figure, language)
    assert english_words(figure, table.provenance) == set()


def test_the_classes_of_a_bundled_model_have_chinese_names():
    model = vx.load_model("scenes_vit_patch16_192")
    assert len(model.class_names_zh) == len(model.class_names) == model.num_classes
    seen = vx.capture(model, ASSETS / "examples" / "scene_ring.webp")
    for view, settings in (("grad_cam", {"target": "圆环"}), ("pooling", {}), ("logit_lens", {"token": "patches"})):
        result = compute(view, seen, **settings)
        chinese, english = (" ".join(every_word(render(result, language=language))) for language in ("zh", "en"))
        assert any(name in chinese for name in model.class_names_zh), view
        assert not any(re.search(rf"\b{name}\b", chinese) for name in model.class_names), view
        assert any(name in english for name in model.class_names), view
        assert not CHINESE.search(english), view


def test_matrix_hatches_what_is_missing_and_marks_what_is_pointed_out():
    plain = a_matrix(values=np.arange(6.0).reshape(2, 3))
    marked = np.zeros((2, 3), bool)
    marked[1, 0] = True
    words = all_words(render(a_matrix(marked=marked)))
    assert "Hatched: this block has no such head." in words
    assert "A diamond marks an outlier." in words
    assert "Hatched" not in all_words(render(plain))
    cells = next(trace for trace in render(a_matrix()).data if trace.type == "heatmap")
    assert np.isnan(cells.z[0][2])
    diamonds = [trace for trace in render(a_matrix(marked=marked)).data if "diamond" in str(trace)]
    x = diamonds[0].x[0]
    assert cells.x[0] < x < cells.x[1]


def test_signed_values_have_zero_in_the_middle():
    axis = render(a_matrix(values=np.array([[-1.0, 3.0]]))).layout.coloraxis
    assert (axis.cmin, axis.cmax) == (-3, 3)


def test_runs_join_neighbours():
    assert runs(np.array([[1, 1, 0, 1], [0, 0, 0, 0]], bool)) == [(0, 0, 1, 2), (0, 3, 1, 1)]


def test_board_keeps_each_tile_in_its_place():
    board = np.arange(2 * 3 * 2 * 3, dtype=float).reshape(2, 3, 2, 3)
    plane = sheet(board)
    assert plane.shape == (5, 11)
    np.testing.assert_array_equal(plane[3:5, 4:7], board[1, 1])
    assert np.isnan(plane[2]).all()
    assert np.isnan(plane[:, 3]).all()


def test_numbers_of_a_board_do_not_touch():
    assert [*apart(24, 2, 40, 22)] == [*range(0, 24, 2)]
    assert [*apart(24, 2, 16, 22)] == [0, 4, 8, 12, 16, 20]
    assert [*apart(5, 1, 10, 40)] == [0, 4]


def test_ticks_are_round_and_within():
    assert ticks(0, 1) == [0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert ticks(-3, 14) == [0, 5, 10]
    assert ticks(2, 2) == [2]


def test_a_chart_has_its_corners_in_its_box():
    chart = Chart(Box(10, 20, 100, 50), (0, 4), (-1, 1))
    assert chart.at(0, -1) == (10, 70)
    assert chart.at(4, 1) == (110, 20)


def test_tiles_stay_in_their_room():
    boxes = tiles(13, (2, 3), Box(40, 0, 1000, 400), above=10, below=10, narrowest=100)
    assert len(boxes) == 13
    assert max(box.right for box in boxes) <= 1040 + 1e-6
    assert boxes[0].width >= 100
    assert boxes[0].height * 3 == pytest.approx(boxes[0].width * 2)


@pytest.mark.parametrize(("key", "words"), [("3,5", "row 3, col 5"), ("cls", "class token"), ("padding", "padding")])
def test_keys_in_words(key, words):
    assert key_text(key).en == words
