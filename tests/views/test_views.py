"""The contract of every view: its record, an answer or a refusal, errors in a sentence."""

from __future__ import annotations

from dataclasses import fields
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

import vitexplorer as vx
from tests.helpers.every_case import check_every
from tests.helpers.expected_refusals import is_refused
from tests.helpers.least_settings import LEAST, cheaply, run_once
from tests.helpers.small_models import RECIPES, capture_small
from tests.helpers.thorough import always, later
from vitexplorer.core.registry import UnknownNameError
from vitexplorer.core.text import SettingError, UnsupportedError
from vitexplorer.core.types import MapResult, Result
from vitexplorer.views import VIEWS, explanations
from vitexplorer.views.record import GROUPS

# ------------------------------------------------------------------------------------------------ the contract


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_says_what_it_is(view):
    record = VIEWS[view]
    texts = [record.title, record.question, record.misleads, *(control.label for control in record.controls)]
    for text in texts:
        assert text.en.strip()
        assert text.zh.strip()
    assert record.question.en.endswith("?")
    assert len({control.name for control in record.controls}) == len(record.controls)
    if record.paper:
        assert record.paper.url.startswith("https://")


def test_every_explanation_has_its_group():
    """The room Flow has all groups; what goes back is a gradient, what compares others is a judge."""
    groups = {key: view.group for key, view in VIEWS.items() if view.room == "flow"}
    assert set(groups.values()) == set(GROUPS)
    assert groups.keys() >= explanations().keys()
    assert not any(view.group for key, view in VIEWS.items() if key not in groups)
    assert {key for key, group in groups.items() if group == "judge"} == groups.keys() - explanations() | {"random"}
    assert {group for key, group in groups.items() if VIEWS[key].goes_back} == {"gradient"}
    assert {key for key, group in groups.items() if group == "attention"} == {"attention_rollout"}
    assert {key for key, group in groups.items() if group == "perturbation"} == {"occlusion", "activation_patching"}


MADE = [*product(RECIPES, ["squash"]), *product(["vit", "dinov3", "swin_padded"], ["native"])]
TWICE = ("vit", "deit_distilled", "registers_only", "encoder", "swin_padded")
"""Models where an answer is computed twice: two kinds of prefix tokens, none, no class token, no classifier, windows"""


@pytest.mark.contract
@pytest.mark.parametrize("made", MADE, ids="-".join)
def test_a_model_is_refused_what_is_stated(made):
    captured = capture_small(*made)

    def check(view: str) -> None:
        reason = VIEWS[view].refuses(captured)
        assert (reason is not None) == is_refused(view, made[0]), "they are stated in helpers/expected_refusals.py"
        if reason is not None:
            assert reason.en.endswith(".")
            with pytest.raises(UnsupportedError):
                vx.compute(view, captured)

    check_every({view: view for view in VIEWS}, check)


def answers() -> list[Any]:
    """Return views and the models that they are not refused: each of TWICE, and every third of the others in turn."""
    pairs = product(enumerate(VIEWS), enumerate(MADE))
    cheap = run_once()
    return [
        always(view, made) if made[0] in TWICE or (view in cheap and (i + j) % 3 == 0) else later(view, made)
        for (i, view), (j, made) in pairs
        if not is_refused(view, made[0])
    ]


@pytest.mark.contract
@pytest.mark.parametrize(("view", "made"), answers())
def test_a_view_answers(view, made, thorough):
    captured = capture_small(*made)
    result = cheaply(view, captured)
    assert isinstance(result, Result)
    assert result.view == view
    assert len(result.axes) == result.values.ndim
    assert np.isfinite(result.values).all() or any("(NaN)" in note.en for note in result.notes)
    assert not np.isinf(result.values).any()
    of_one_pass = {control.name for control in VIEWS[view].controls} - {"sharpen"}
    assert set(result.settings) == of_one_pass
    assert result.provenance.model == captured.model.name
    assert result.provenance.is_random
    assert result.provenance.input_size == captured.input.pixels.shape[:2]
    assert not [f.name for f in fields(result) if isinstance(getattr(result, f.name), torch.Tensor)]
    if isinstance(result, MapResult):
        assert result.values.shape == (result.grid.rows, result.grid.cols)
    if thorough or (made[0] in TWICE and VIEWS[view].runs != "many"):
        again = vx.compute(view, captured, **result.settings)
        np.testing.assert_array_equal(again.values, result.values)


@pytest.mark.parametrize("view", LEAST)
def test_a_view_that_is_asked_for_less_answers_what_it_offers_first(view):
    result = vx.compute(view, capture_small("vit"))
    assert np.isfinite(result.values).all()
    assert all(result.settings[name] != value for name, value in LEAST[view].items())


# ------------------------------------------------------------------------------------------------ sentences


def sentence(error: type[Exception], view: str, key: str = "vit", **settings) -> str:
    """Return the message to a person who asked for this."""
    with pytest.raises(error) as raised:
        vx.compute(view, capture_small(key), **settings)
    return str(raised.value)


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (("atention_rollout", {}), "Unknown view 'atention_rollout'. Did you mean 'attention_rollout'?"),
        (("attention_map", {"haed": 1}), "Unknown setting 'haed'. Did you mean 'head'?"),
        (("attention_map", {"head": "maen"}), "Unknown head or fusion 'maen'. Did you mean 'mean'?"),
        (("attention_map", {"query": "clss"}), "Unknown query 'clss'. Did you mean 'cls'?"),
        (("attention_rollout", {"head_fusion": "median"}), "Unknown head_fusion 'median'. Did you mean 'mean'?"),
        (("patch_grid", {"block": 1}), "Unknown setting 'block'."),
    ],
    ids=str,
)
def test_an_unknown_name_is_answered_with_the_nearest(request_, expected):
    view, settings = request_
    assert sentence(UnknownNameError, view, **settings).startswith(expected)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"block": 3}, "There is no block 3: this model has blocks 0 to 2."),
        ({"block": -1}, "There is no block -1: this model has blocks 0 to 2."),
        ({"block": "last"}, "block must be a whole number, not 'last'."),
        ({"block": 1.5}, "block must be a whole number, not 1.5."),
        ({"block": float("nan")}, "block must be a whole number, not nan."),
        ({"block": float("inf")}, "block must be a whole number, not inf."),
        ({"head": 3}, "There is no head 3: block 2 has heads 0 to 2."),
        ({"head": "-1"}, "There is no head -1: block 2 has heads 0 to 2."),
        ({"query": (4, 0)}, "There is no patch (4, 0): the grid has rows 0 to 3 and columns 0 to 3."),
        ({"query": (0, -1)}, "There is no patch (0, -1): the grid has rows 0 to 3 and columns 0 to 3."),
        ({"query": "7,7"}, "There is no patch (7, 7): the grid has rows 0 to 3 and columns 0 to 3."),
        ({"query": "1,x"}, "col must be a whole number, not 'x'."),
        ({"query": 5}, 'query must be "cls", "dist", "mean" or (row, col), not 5.'),
        ({"query": (1, 2, 3)}, 'query must be "cls", "dist", "mean" or (row, col), not (1, 2, 3).'),
        ({"query": "dist"}, 'This model has no distillation token, so there is no query "dist".'),
    ],
    ids=str,
)
def test_a_wrong_value_is_answered_with_the_rule(settings, expected):
    assert sentence(SettingError, "attention_map", **settings).startswith(expected)


@pytest.mark.parametrize("ratio", [1, 1.5, -0.1, float("nan"), float("inf")])
def test_discard_ratio_is_below_one(ratio):
    text = sentence(SettingError, "attention_rollout", discard_ratio=ratio)
    assert text == f"discard_ratio must be from 0 to below 1, not {ratio:g}."


@pytest.mark.parametrize("ratio", [b"0", bytearray(b"0"), "half"])
def test_discard_ratio_is_a_number(ratio):
    text = sentence(SettingError, "attention_rollout", discard_ratio=ratio)
    assert text == f"discard_ratio must be a number, not {ratio!r}."


@pytest.mark.parametrize("key", ["siglip", "swin", "registers_only"])
def test_no_class_token_names_the_mean(key):
    for view in ("attention_map", "head_gallery", "attention_rollout"):
        text = sentence(SettingError, view, key, query="cls")
        assert text == 'This model has no class token, so there is no query "cls". Use "mean" or (row, col).'
        assert vx.compute(view, capture_small(key)).query == "mean"  # what it is when nobody says


def test_values_from_an_address_are_read():
    captured = capture_small("vit")
    typed = vx.compute("attention_map", captured, block="1", head="2", query="3,1")
    plain = vx.compute("attention_map", captured, block=1, head=2, query=(3, 1))
    assert typed.settings == plain.settings == {"block": 1, "head": 2, "query": (3, 1)}
    np.testing.assert_array_equal(typed.values, plain.values)


@pytest.mark.parametrize("steps", [10**400, "9" * 400, -(10**400)])
def test_a_number_that_no_float_holds_is_answered_with_a_sentence(steps):
    with pytest.raises(SettingError, match="whole number"):
        vx.compute("integrated_gradients", capture_small("vit"), steps=steps)
