"""Models with one output: everywhere its value in its own unit, and no probability, which would be 1."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import vitexplorer as vx
from tests.helpers import reference_relevance
from tests.helpers.least_settings import text_settings
from tests.helpers.small_models import load_small, picture, roughen
from tests.helpers.tried_changes import TRIED
from vitexplorer.capturing.capture import Capture
from vitexplorer.comparisons import COMPARISONS
from vitexplorer.core.text import SettingError, UnsupportedError, same
from vitexplorer.core.types import OUTPUT, Output, Prediction, Result
from vitexplorer.evaluation.case import Case
from vitexplorer.evaluation.protocol import PROTOCOLS
from vitexplorer.figures import render
from vitexplorer.figures.caption import caption
from vitexplorer.figures.previews import preview
from vitexplorer.figures.tables import as_csv, as_document, as_json
from vitexplorer.learn import STEPS, Seen
from vitexplorer.models.families import family_of
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.seeding import seeded
from vitexplorer.notebook.capture_card import capture_card
from vitexplorer.quantities.faithfulness import ranking
from vitexplorer.quantities.perturbation import baseline_image
from vitexplorer.quantities.read_out import displayed_values, top_classes
from vitexplorer.survey import answers
from vitexplorer.survey.labels import class_of
from vitexplorer.survey.questions import QUESTIONS
from vitexplorer.ui.rooms.compare.sides import answer_of
from vitexplorer.ui.rooms.what_if.room import answer
from vitexplorer.ui.server.api.explaining import _classes
from vitexplorer.ui.shell.exploring import _answer
from vitexplorer.views import VIEWS, refusal

PROBABILITY_WORDS = re.compile(r"probab|概率|likeliest|最可能|logit [−\d]")
REFUSED = {
    "caption": "writes no captions",
    "logit_lens": "predicts a number",
    "mae_reconstruction": "decoder",
    "relative_position_bias": "adds no bias",
}
"""Views without an answer for such a model, with the reason"""
REFUSED_STEPS = {"position", "class_token", "residual", "stack"}
"""Steps of Learn about a choice among classes"""
OF_CLASSES = ("grid_pointing", "parts", "road")
"""Protocols that ask which class is the answer"""


def with_outputs(outputs: int, seed: int, *names: str) -> LoadedModel:
    """Return the small ViT with a classifier of this many outputs."""
    small = load_small("vit")
    with seeded(seed):
        module = type(small.module)(img_size=64, embed_dim=48, num_heads=3, depth=3, num_classes=outputs).eval()
        roughen(module)
    name = f"vit_{outputs}_{seed}"
    provenance = dataclasses.replace(small.provenance, model=name, weights="file", weights_source="age.safetensors")
    return dataclasses.replace(
        small, name=name, module=module, family=family_of(module, name), provenance=provenance, class_names=names
    )


@pytest.fixture(
    scope="module",
    params=[pytest.param((), id="unnamed", marks=pytest.mark.thorough), pytest.param(("age",), id="named")],
)
def one(request: pytest.FixtureRequest) -> Capture:
    return vx.capture(with_outputs(1, 0, *request.param), picture(64, 64), fit="squash")


@pytest.fixture(scope="module")
def other() -> Capture:
    """Capture the same image with another model of one output."""
    return vx.capture(with_outputs(1, 1), picture(64, 64), fit="squash")


def everything(result: Result, reading: Callable[[Result, str], str]) -> Iterator[str]:
    """Yield all text of a result: tables, caption, reading and the words of its figure."""
    yield as_json(result)
    yield str(caption(result))
    for language in ("en", "zh"):
        yield as_csv(result, language)
        yield reading(result, language)
        yield json.dumps(render(result, language=language), ensure_ascii=False, default=str)


def assert_no_probability(result: Result, reading: Callable[[Result, str], str] = vx.reading) -> None:
    for text in everything(result, reading):
        match = PROBABILITY_WORDS.search(text)
        assert match is None, text[max(0, match.start() - 80) : match.end() + 40]


# ------------------------------------------------------------------------------------------------ one place


def test_one_output_stays_as_it_is_and_two_are_classes():
    logits = torch.tensor([[-2.5], [40.0]])
    assert torch.equal(displayed_values(logits), logits)
    both = torch.tensor([1.0, 3.0], dtype=torch.float64)
    assert torch.equal(displayed_values(both), both.softmax(-1))
    (only,) = top_classes(torch.tensor([-2.5]), ())
    assert isinstance(only, Output)
    assert (only.index, only.output, only.unit, only.display_value) == (0, -2.5, OUTPUT, "−2.50")
    first, second = top_classes(both, ())
    assert isinstance(first, Prediction)
    assert (first.index, second.index) == (1, 0)
    assert first.probability + second.probability == pytest.approx(1)


# ------------------------------------------------------------------------------------------------ views


@pytest.mark.parametrize("view", list(VIEWS))
def test_no_view_speaks_of_a_probability(one, view):
    run = vx.intervene(one, "shuffle_patches:seed=0") if view == "before_after" else one
    reason = refusal(view, run)
    assert (view in REFUSED) == (reason is not None)
    if reason is not None:
        assert REFUSED[view] in reason.en
        return
    settings = {"measure": True, "steps": 2} if view == "side_by_side" else text_settings(view, run)
    result = vx.compute(view, run, **settings)
    assert_no_probability(result)
    preview(result)  # of some kinds there is none
    if result.target is not None:
        assert result.target == Output(
            0, one.model.class_texts[0] if one.model.class_names else same(""), one.logits.item()
        )


@pytest.mark.parametrize(
    "view", ["occlusion", "input_x_gradient", "integrated_gradients", "attn_lrp", "grad_cam", "legrad"]
)
def test_maps_are_counted_in_the_output(one, view):
    assert vx.compute(view, one).unit.en.startswith("output")
    assert vx.compute(view, one).unit.zh.count("输出值") == 1


def test_curves_are_those_of_the_output(one):
    """Slow twin: f(x) with patches covered one count after the other, in float64, and trapezoids by hand."""
    result = vx.compute("faithfulness", one, methods="input_x_gradient", steps=4, seed=5)
    grid, image = one.grid(one.depth - 1), one.input.tensor[0].double().numpy()
    mean, blur = (baseline_image(one, kind)[0].double().numpy() for kind in ("mean", "blur"))
    counts = [round(k * grid.num_patches / 4) for k in range(5)]
    shares = [count / grid.num_patches for count in counts]
    module = with_outputs(1, 0).module.double()

    def output(pixels: np.ndarray) -> float:
        with torch.no_grad():
            return module(torch.from_numpy(pixels)[None]).item()

    assert result.unit == OUTPUT
    for m, method in enumerate(result.methods):
        values = vx.compute(method, one, **({"seed": 5} if method == "random" else {})).values
        order = ranking(values, seed=5).tolist()
        deletion = reference_relevance.curve(output, image, mean, order, counts, grid.cols, grid.patch_size)
        outside = reference_relevance.covered(image, blur, range(grid.num_patches), grid.cols, grid.patch_size)
        insertion = reference_relevance.curve(output, outside, image, order, counts, grid.cols, grid.patch_size)
        for c, expected in enumerate((deletion, insertion)):
            np.testing.assert_allclose(result.values[m, c], expected, atol=2e-5)
            assert np.ptp(expected) > 1e-3
            assert result.areas[m, c] == pytest.approx(reference_relevance.area(expected, shares), abs=2e-5)


def test_areas_below_zero_are_written_with_a_minus_sign(one):
    result = vx.compute("faithfulness", one, methods="grad_cam", steps=2)
    figure_json = json.dumps(render(result, language="en"), ensure_ascii=False, default=str)
    area = float(result.areas.min())
    assert area < 0
    assert f"−{-area:.3f}" in figure_json
    assert f"{area:.3f}" not in figure_json


def test_another_class_is_refused_with_a_sentence(one):
    for target in ("0 vs 0", "0 vs 1"):
        with pytest.raises(SettingError, match="has one output, so there is no other class"):
            vx.compute("input_x_gradient", one, target=target)
    with pytest.raises(SettingError, match="has one output, which is number 0: there is no 1"):
        vx.compute("faithfulness", one, target=1)
    menu = VIEWS["occlusion"].controls[0].spec(one, {})
    assert dict(menu.options)["0"] == (one.model.class_texts[0] if one.model.class_names else OUTPUT)
    assert not any(" vs " in written and not written.startswith("patch") for written, _ in menu.options)
    assert menu.words["class"].en == "the output"


def test_every_reading_of_the_tokens_gives_its_output(one):
    result = vx.compute("pooling", one)
    assert [read.reading for read in result.readings] == ["cls", "mean"]
    assert result.readings[0].top[0].output == pytest.approx(one.logits.item(), abs=1e-5)
    assert "Read through the class token the output" in vx.reading(result)


# ------------------------------------------------------------------------------------------------ interventions


@pytest.mark.parametrize("changes", TRIED)
def test_before_and_after_give_the_output_of_both_runs(one, changes):
    run = vx.intervene(one, changes)
    result = vx.compute("before_after", run)
    (only,) = result.classes
    assert (only.before, only.after, only.unit) == (one.logits.item(), run.logits.item(), OUTPUT)
    assert_no_probability(result)
    assert f"{only.before:.3g}".replace("-", "−") in vx.reading(result)
    for language in ("en", "zh"):
        assert not PROBABILITY_WORDS.search(answer(one, run, language))


# ------------------------------------------------------------------------------------------------ comparisons


@pytest.mark.parametrize("comparison", list(COMPARISONS))
def test_no_comparison_speaks_of_a_probability(one, other, comparison):
    result = vx.compare(comparison, one, other)
    assert_no_probability(result, lambda result, language: COMPARISONS[comparison].reading(result).in_(language))


def test_outputs_are_compared_with_outputs_alone(one, other):
    result = vx.compare("answers", one, other)
    np.testing.assert_array_equal(result.values, [[one.logits.item(), other.logits.item()]])
    assert result.units == (OUTPUT,)
    classes = vx.capture(load_small("vit"), picture(64, 64), fit="squash")
    for pair in ((one, classes), (classes, one)):
        with pytest.raises(UnsupportedError, match="predicts a number and vit predicts classes"):
            vx.compare("answers", *pair)


# ------------------------------------------------------------------------------------------------ evaluation


def test_an_evaluation_follows_the_output(one):
    mask = np.zeros((64, 64), bool)
    mask[:32, :32] = True
    cases = [Case(picture(64, 64), 0, mask=mask, cell=mask)]
    result = vx.evaluate(one.model, ["grad_cam"], data=cases)
    assert {*result.protocols} == {
        column.key for key in PROTOCOLS if key not in OF_CLASSES for column in PROTOCOLS[key].columns
    }
    assert not any(PROBABILITY_WORDS.search(text) for text in (as_json(result), as_csv(result), as_csv(result, "zh")))
    at, areas = (
        result.protocols.index("deletion"),
        vx.compute("faithfulness", one, methods="grad_cam", steps=10, seed=0),
    )
    assert result.values[0, at] == pytest.approx(areas.areas[0, 0], abs=1e-5)
    for protocol in OF_CLASSES:
        with pytest.raises(UnsupportedError, match="answers with one number"):
            vx.evaluate(one.model, ["grad_cam"], data=cases, protocols=[protocol])


# ------------------------------------------------------------------------------------------------ elsewhere


def test_every_answer_is_the_output(one):
    name = one.model.class_names[0] if one.model.class_names else "output"
    number = f"{one.logits.item():.3g}".replace("-", "−")
    assert _answer(one, "en") == f"{name} {number}"
    assert number in answer_of(one, "en")
    assert f"{name} {number}" in str(capture_card(one).rows)
    assert _classes(one, 5, "en") == [
        {"index": 0, "name": one.model.class_names[0] if one.model.class_names else "", "output": one.logits.item()}
    ]
    for language in ("en", "zh"):
        for words in (_answer(one, language), answer_of(one, language), str(_classes(one, 5, language))):
            assert not PROBABILITY_WORDS.search(words)


def test_a_survey_asks_for_the_output(one):
    question = QUESTIONS["prediction"]
    assert [column.key for column in question.columns(one)] == ["output"]
    assert question.answers([one, one], [None, 0]) == [{"output": one.logits.item()}] * 2
    assert class_of("0", one.model) is None


def test_a_survey_of_outputs_has_no_right_and_wrong(tmp_path):
    for at in range(2):
        Image.fromarray(picture(64, 64, at)).save(tmp_path / f"{at}.png")
    model = with_outputs(1, 0)
    survey = vx.survey(tmp_path, model, ask=["prediction"], fit="squash", out=tmp_path / "survey")
    rows = answers.rows_at(survey, [0, 1])
    expected = [vx.capture(model, picture(64, 64, at), fit="squash").logits.item() for at in range(2)]
    assert [row["output"] for row in rows] == pytest.approx(expected, abs=1e-5)
    for asked in (answers.worst, answers.per_class):
        with pytest.raises(UnsupportedError, match="answers with one number, so no class is right or wrong"):
            asked(survey)


def test_steps_about_classes_are_refused(one, unchecked):
    seen = Seen(
        one,
        lambda view, **settings: vx.compute(view, one, **settings),
        lambda changes: vx.intervene(one, changes),
        None,
    )
    for step in (step for step in STEPS if step.key in REFUSED_STEPS):
        with pytest.raises(UnsupportedError, match="number"):
            step.numbers(seen)


def test_a_document_of_two_outputs_still_has_probabilities():
    two = vx.capture(with_outputs(2, 0), picture(64, 64), fit="squash")
    document: dict[str, Any] = as_document(vx.compute("faithfulness", two, methods="grad_cam", steps=2), "en")
    assert document["target"]["probability"] == pytest.approx(two.logits.softmax(-1).max().item())
    assert document["unit"] == "probability of the class"
