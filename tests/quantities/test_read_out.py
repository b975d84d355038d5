"""Reading out tokens: the model's own output, bit for bit, and every other reading."""

from __future__ import annotations

import pytest
import torch
from timm.models.beit import Beit

from tests.helpers.small_models import RECIPES, load_small
from vitexplorer.capturing.capture import Capture


def last_tokens(captured: Capture) -> torch.Tensor:
    """Return the residual stream after the last block, (1, tokens, dim)."""
    return captured.residual_after(captured.depth - 1)[None]


# ------------------------------------------------------------------------------------------------ reading


def test_own_reading_is_the_models_output_bit_for_bit(any_capture):
    family, module = any_capture.model.family, any_capture.model.module
    with torch.no_grad():
        assert torch.equal(family.read_out(module, last_tokens(any_capture), "own"), any_capture.output)


def test_the_documented_reading_of_a_model_gives_its_output(any_capture):
    family, module = any_capture.model.family, any_capture.model.module
    with torch.no_grad():
        result = family.read_out(module, last_tokens(any_capture), family.own_reading(module))
    torch.testing.assert_close(result, any_capture.output, rtol=0, atol=1e-5)


OWN = {
    "vit": "cls",
    "vit_not_square": "cls",
    "encoder": "cls",
    "deit_distilled": "own",
    "deit3": "cls",
    "dinov2_registers": "cls",
    "registers_only": "mean",
    "clip": "cls",
    "siglip": "own",
    "uneven": "own",
    "beit": "mean",
    "eva": "mean",
    "dinov3": "mean",
    "perception_encoder": "own",
    "swin": "mean",
    "swinv2": "mean",
}
"""Readings of models in the papers and timm's model cards"""


@pytest.mark.parametrize("key", OWN)
def test_own_reading(key):
    model = load_small(key)
    assert model.family.own_reading(model.module) == OWN[key]


def test_readings_are_those_of_the_tokens_there_are(any_model):
    readings = any_model.family.readings(any_model.module)
    named = [name for name in ("cls", "dist") if name in RECIPES[any_model.name].prefix_tokens]
    assert readings[: len(named)] == tuple(named)
    assert "mean" in readings
    assert any_model.family.own_reading(any_model.module) in readings


@torch.no_grad()
def test_each_token_is_read_as_the_class_token_is(any_capture):
    family, module = any_capture.model.family, any_capture.model.module
    tokens = last_tokens(any_capture)
    each = family.read_each(module, tokens)
    assert each.shape[:2] == tokens.shape[:2]
    prefix = len(any_capture.prefix_tokens)
    for place in range(3):
        alone = torch.cat([tokens[:, :prefix], tokens[:, prefix + place, None]], dim=1)  # the mean of one is itself
        torch.testing.assert_close(each[:, prefix + place], family.read_out(module, alone, "mean"), rtol=0, atol=1e-5)
    if "cls" in any_capture.prefix_tokens:
        torch.testing.assert_close(each[:, 0], family.read_out(module, tokens, "cls"), rtol=0, atol=1e-5)


def test_dist_has_its_own_classifier_and_own_is_the_mean_of_both():
    model = load_small("deit_distilled")
    tokens = torch.randn(2, 18, 48, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        by = {reading: model.family.read_out(model.module, tokens, reading) for reading in ("cls", "dist", "own")}
        expected = model.module.head_dist(model.module.norm(tokens[:, 1]))
    torch.testing.assert_close(by["dist"], expected)
    torch.testing.assert_close(by["own"], (by["cls"] + by["dist"]) / 2)


@torch.no_grad()
def test_the_mean_is_timms_own_average_pooling(any_capture):
    family, module = any_capture.model.family, any_capture.model.module
    tokens = last_tokens(any_capture)
    if getattr(module, "attn_pool", None) is not None or isinstance(module, Beit) or any_capture.site(0).windows:
        pytest.skip("timm pools this module in one way only")
    pooled = module.pool(module.norm(tokens), pool_type="avg")
    torch.testing.assert_close(family.read_out(module, tokens, "mean"), module.head(module.fc_norm(pooled)))
