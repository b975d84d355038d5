"""Columns of a survey: each number against its view or its definition, and unsupported models."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
import torch

import vitexplorer as vx
from tests.helpers import reference_tokens
from tests.helpers.small_models import CAPTURES, capture_small, load_small
from tests.helpers.thorough import quick
from tests.helpers.unfused_attention import run_explicitly
from vitexplorer.capturing.capture import Capture
from vitexplorer.core.registry import UnknownNameError
from vitexplorer.core.text import SettingError, UnsupportedError
from vitexplorer.quantities.outliers import far_out
from vitexplorer.survey.labels import class_of
from vitexplorer.survey.questions import QUESTIONS, question_of
from vitexplorer.survey.questions.heads import COLUMNS
from vitexplorer.survey.questions.rollout import concentration
from vitexplorer.survey.schema import FILE_COLUMNS, schema_of

UNLIKE = [("deit_distilled", "squash"), ("dinov2_registers", "native"), ("siglip", "squash"), ("swin_padded", "native")]
"""Models with two prefix tokens, registers, no prefix token, and windows with padding"""


def asked(key: str, captured: Capture, target: int | None = None) -> dict:
    return dict(question_of(key).answers([captured], [target])[0])


@pytest.mark.parametrize("made", quick(CAPTURES, keep=UNLIKE))
def test_heads_are_those_of_the_atlas(made):
    captured = capture_small(*made)
    answers = asked("heads", captured)
    for metric, column in COLUMNS.items():
        if metric == "class_mass" and "cls" not in captured.prefix_tokens:
            assert answers[column] is None
            continue
        expected = vx.compute("head_atlas", captured, metric=metric).values
        np.testing.assert_allclose(answers[column].reshape(expected.shape), expected, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("made", quick(CAPTURES, keep=UNLIKE))
def test_outliers_are_those_of_the_last_block(made):
    captured = capture_small(*made)
    stream = run_explicitly(captured.model.module, captured.input.tensor).residual_after[-1].flatten(0, -2)
    norms = np.array([reference_tokens.norm(x) for x in stream])[len(captured.prefix_tokens) :]
    answers = asked("outliers", captured)
    assert answers["outliers"] == far_out(norms).sum()
    assert answers["largest_norm"] == pytest.approx(max(norms) / np.median(norms), rel=1e-5)


@pytest.mark.parametrize("made", quick(CAPTURES, keep=UNLIKE))
def test_rollout_is_the_views(made):
    captured = capture_small(*made)
    shares = vx.compute("attention_rollout", captured).values.ravel().tolist()
    answers = asked("rollout", captured)
    assert answers["rollout_peak"] == pytest.approx(max(shares), rel=1e-5)
    held = taken = 0
    for share in sorted(shares, reverse=True):
        if held >= sum(shares) / 2:
            break
        held, taken = held + share, taken + 1
    one_patch = 1.001 / len(shares)  # a tie may fall either way
    assert abs(answers["rollout_concentration"] - taken / len(shares)) <= one_patch


@pytest.mark.parametrize(
    ("shares", "taken"), [([1, 1, 1, 1], 2), ([4, 1, 1, 1], 1), ([1, 3, 2, 2], 2), ([0, 0, 0, 5], 1), ([3, 3, 2], 2)]
)
def test_concentration_by_hand(shares, taken):
    assert concentration(np.array(shares, dtype=np.float32)) == pytest.approx(taken / len(shares))


def test_prediction_by_hand():
    captured = capture_small("vit")
    scores = captured.logits.tolist()
    exponentials = [math.exp(score - max(scores)) for score in scores]
    p = [e / sum(exponentials) for e in exponentials]
    first, second = sorted(range(len(p)), key=lambda index: -p[index])[:2]
    answers = asked("prediction", captured, second)
    assert (answers["predicted"], answers["second"], answers["correct"]) == (first, second, False)
    assert asked("prediction", captured, first)["correct"] is True
    expected = {
        "probability": p[first],
        "second_probability": p[second],
        "margin": p[first] - p[second],
        "entropy": -sum(one * math.log(one) for one in p),
        "label_probability": p[second],
    }
    assert {key: answers[key] for key in expected} == pytest.approx(expected, rel=1e-5)
    unlabelled = asked("prediction", captured)
    assert unlabelled["label_probability"] is unlabelled["correct"] is None


@pytest.mark.parametrize("key", ["vit", "dinov2_registers", "swin"])
def test_features_are_timms_own_last_tokens(key):
    captured = capture_small(key)
    with torch.no_grad():
        tokens = captured.model.module.forward_features(captured.input.tensor)[0].flatten(0, -2)
    answers, prefix = asked("features", captured), len(captured.prefix_tokens)
    np.testing.assert_allclose(answers["feature_mean"], tokens[prefix:].mean(0), rtol=2e-3, atol=1e-4)
    if prefix:
        np.testing.assert_allclose(answers["feature_cls"], tokens[0], rtol=2e-3, atol=1e-4)
    else:
        assert answers["feature_cls"] is None


# ------------------------------------------------------------------------------------------------ the columns


@pytest.mark.parametrize("key", ["vit", "encoder", "swin_padded"])
def test_a_row_has_the_columns_of_the_schema(key):
    schema = schema_of(load_small(key), [*QUESTIONS, "attention_map:block=1;head=0", "attention_distance"])
    (row,) = schema.answers([capture_small(key)], [None])
    assert list(row) == [column.key for column in schema.columns]
    table = pa.Table.from_pylist([{"path": "a.png", **row}], schema=schema.arrow)
    assert table.column_names == [column.key for column in (*FILE_COLUMNS, *schema.columns)]
    for column in schema.columns:
        result = table[column.key][0].as_py()
        if column.shape and result is not None:
            assert len(result) == math.prod(column.shape)
    assert set(schema.left_out) == ({"prediction"} if key == "encoder" else set())


@pytest.mark.parametrize(
    ("key", "en", "zh"),
    [
        ("attention_rollout", "Attention rollout", "注意力展开（rollout）"),
        ("grad_cam:block=3;target=5", "Grad-CAM (Target 5, Block 3)", "Grad-CAM（解释目标 5，块 3）"),
        ("attention_map:query=3,4", "Attention map (Query 3,4)", "注意力图（查询 3,4）"),
        ("attention_rollout:head_fusion=max", "Attention rollout (Heads fused by maximum)", ""),
    ],
)
def test_a_view_is_called_by_its_settings(key, en, zh):
    title = question_of(key).title
    assert title.en == en
    assert title.zh == zh or not zh


def test_a_view_is_a_question_with_its_settings():
    captured = capture_small("vit")
    (column,) = question_of("attention_map:block=1;head=0").columns(captured)
    expected = vx.compute("attention_map", captured, block=1, head=0).values
    assert column.shape == expected.shape
    result = asked("attention_map:block=1;head=0", captured)
    np.testing.assert_array_equal(result[column.key].reshape(expected.shape), expected)


def test_what_cannot_be_asked_is_refused_with_a_sentence():
    model = load_small("vit")
    with pytest.raises(UnknownNameError, match="Did you mean 'outliers'"):
        schema_of(model, ["outlier"])
    with pytest.raises(SettingError, match="block"):
        schema_of(model, ["attention_map:block=99"])
    with pytest.raises(UnsupportedError, match="one number or a map of at most 1024 cells"):
        asked("patch_grid", capture_small("vit"))
    left_out = schema_of(model, ["attention_map", "patch_grid", "heads"], fit="native").left_out
    assert set(left_out) == {"attention_map", "patch_grid"}
    assert "grid of its own" in left_out["attention_map"].en


def test_a_label_names_a_class():
    model = vx.load_model("scenes_vit_patch16_192", device="cpu")
    first = model.class_texts[0]
    assert {class_of(name, model) for name in (first.en, first.en.upper(), first.zh, "0")} == {0}
    assert class_of("9" * 5000, model) is None
    assert class_of("no such thing", model) is class_of(None, model) is class_of(str(model.num_classes), model) is None
