"""Class token against mean of patches: cosines and top classes against loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from torch import nn

import vitexplorer as vx
from tests.helpers import reference_tokens
from tests.helpers.reference_tokens import read_slowly
from tests.helpers.small_models import capture_small
from tests.helpers.unfused_attention import run_explicitly
from vitexplorer.core.text import UnsupportedError


def test_cosine_of_class_token_and_mean_patch(any_capture):
    if "cls" not in any_capture.prefix_tokens:
        with pytest.raises(UnsupportedError, match=r"has no class token to compare"):
            vx.compute("pooling", any_capture)
        return
    prefix = len(any_capture.prefix_tokens)
    streams = run_explicitly(any_capture.model.module, any_capture.input.tensor).residual_after
    expected = [reference_tokens.cosine(x[0, 0], x[0, prefix:].double().mean(0)) for x in streams]
    np.testing.assert_allclose(vx.compute("pooling", any_capture).values, expected, atol=1e-5)


def test_the_reading_of_training_says_what_the_model_says(any_capture):
    if "cls" not in any_capture.prefix_tokens or not any_capture.model.num_classes:
        pytest.skip("no readings")
    result = vx.compute("pooling", any_capture)
    (own,) = (reading for reading in result.readings if reading.is_own)
    order = any_capture.logits.argsort(descending=True)[:5].tolist()
    assert [prediction.index for prediction in own.top] == order
    probabilities = reference_tokens.softmax(any_capture.logits.double().numpy())
    for prediction in own.top:
        assert prediction.logit == pytest.approx(float(any_capture.logits[prediction.index]), abs=1e-5)
        assert prediction.probability == pytest.approx(probabilities[prediction.index], abs=1e-6)
    for reading in result.readings:
        assert len(reading.after_blocks) == any_capture.depth
        assert reading.after_blocks[-1] == reading.top[0]


@pytest.mark.parametrize("key", ["vit", "dinov2_registers", "dinov3"])
def test_readings_of_a_plain_model(key):
    captured = capture_small(key)
    module, prefix = captured.model.module, len(captured.prefix_tokens)
    result = vx.compute("pooling", captured)
    for reading in result.readings:
        for block in range(captured.depth):
            tokens = captured.residual_after(block).double().numpy()
            if reading.reading == "cls":
                logits = read_slowly(module, tokens[0])
            elif isinstance(module.norm, nn.LayerNorm):  # normed, then averaged
                norms = module.norm.weight.detach().double().numpy(), module.norm.bias.detach().double().numpy()
                normed = [reference_tokens.layer_norm(x, *norms, module.norm.eps) for x in tokens[prefix:]]
                head = module.head.weight.detach().double().numpy(), module.head.bias.detach().double().numpy()
                logits = reference_tokens.linear(np.mean(normed, axis=0), *head)
            else:
                logits = read_slowly(module, tokens[prefix:].mean(0))
            actual = reading.after_blocks[block]
            assert actual.index == int(np.argmax(logits))
            assert actual.logit == pytest.approx(float(max(logits)), abs=1e-4)


def test_class_names_where_they_are_known():
    captured = capture_small("deit_distilled")
    names = tuple("abcdefg")
    result = vx.compute("pooling", replace(captured, model=replace(captured.model, class_names=names)))
    assert [reading.reading for reading in result.readings] == ["cls", "dist", "mean", "own"]
    assert [reading.is_own for reading in result.readings] == [False, False, False, True]
    assert all(prediction.name.en == names[prediction.index] for r in result.readings for prediction in r.top)
    assert all(prediction.name.en == "" for r in vx.compute("pooling", captured).readings for prediction in r.top)


def test_without_a_classifier_only_the_tokens_are_compared():
    result = vx.compute("pooling", capture_small("encoder"))
    assert result.readings == ()
    assert len(result.values) == 3
    assert "has no classes" in result.notes[-1].en
