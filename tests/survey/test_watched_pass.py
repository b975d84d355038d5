"""Numbers taken during a batch equal those of its captures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.helpers.small_families import CASES, load_case
from tests.helpers.small_models import CAPTURES, RECIPES, load_small, picture
from tests.helpers.thorough import later, quick
from vitexplorer.capturing.capture import capture_input, prepare
from vitexplorer.models.loading import LoadedModel
from vitexplorer.survey import watched_pass
from vitexplorer.survey.schema import schema_of

UNLIKE = [("dinov2_registers", "native"), ("siglip", "squash"), ("swin_padded", "native"), ("beit", "squash")]
CLOSE = {"rtol": 1e-4, "atol": 1e-5}


def check_answers(model: LoadedModel, size: tuple[int, int], fit: str, close: dict[str, float]) -> bool:
    """Return whether the numbers were taken during the pass."""
    inputs = [prepare(model, picture(*size, seed=seed), fit) for seed in range(3)]
    schema = schema_of(model, ["heads", "rollout", "features", "outliers"], fit)
    watched = schema.captures(model, inputs)
    alone = [capture_input(model, given) for given in inputs]
    for one, other in zip(watched, alone, strict=True):
        np.testing.assert_allclose(one.output, other.output, rtol=0, atol=2e-5 * float(other.output.abs().max()))
    singles = [schema.answers([one], [None])[0] for one in alone]
    for result, expected in zip(schema.answers(watched, [None] * 3), singles, strict=True):
        assert result.keys() == expected.keys()
        for column, value in expected.items():
            if value is None:
                assert result[column] is None
            elif column == "rollout_concentration":  # shares that are alike may change places
                assert result[column] == pytest.approx(value, abs=2 / watched[0].grid(0).num_patches)
            else:
                rough = {"rtol": 2e-3, "atol": 2e-3} if column.startswith("feature") else close  # of float16
                np.testing.assert_allclose(result[column], value, **rough, err_msg=column)
    return "heads" in watched[0].tables


@pytest.mark.parametrize("made", quick(CAPTURES, keep=UNLIKE))
def test_numbers_taken_on_the_way_are_those_of_the_captures(made):
    key, fit = made
    model = load_small(key)
    size = RECIPES[key].native_size if fit == "native" else model.preprocessing.input_size
    assert check_answers(model, size, fit, CLOSE)


@pytest.mark.parametrize("key", [later(key) for key in CASES])
def test_every_family_is_answered(key):
    check_answers(load_case(key), CASES[key].size, "squash", {"rtol": 5e-3, "atol": 5e-3})


def test_what_is_too_large_to_be_whole_is_computed_afterwards(monkeypatch):
    monkeypatch.setattr(watched_pass, "WEIGHTS_AT_ONCE", 1)
    assert not check_answers(load_small("vit"), (64, 64), "squash", CLOSE)


def test_one_image_at_a_time_or_all_are_the_same(monkeypatch):
    model = load_small("swin")
    schema = schema_of(model, ["heads"])
    inputs = [prepare(model, picture(64, 64, seed=seed), "squash") for seed in range(3)]
    together = [one.tables["heads"] for one in schema.captures(model, inputs)]
    monkeypatch.setattr(watched_pass, "IN_CACHE", 1)
    one_by_one = [one.tables["heads"] for one in schema.captures(model, inputs)]
    np.testing.assert_allclose(one_by_one, together, rtol=1e-5, atol=1e-7)


def test_a_copy_of_a_capture_has_no_numbers_of_another_pass():
    model = load_small("vit")
    inputs = [prepare(model, picture(64, 64, seed=seed), "squash") for seed in range(2)]
    assert replace(schema_of(model, ["heads"]).captures(model, inputs)[0]).tables == {}
