"""Unsupported checkpoints are refused by name, and the names that the sentence advises are timm's."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import timm
import torch
from torch import nn

import vitexplorer as vx
from tests.helpers.libraries import PLAIN, WINDOWS, saved
from vitexplorer.models.checkpoints import WeightsError
from vitexplorer.models.checkpoints.unsupported import UNSUPPORTED, Unsupported

SMALL = {"embed_dim": 16, "depths": [1, 1, 1, 1], "num_heads": [1, 1, 1, 1], "image_size": [64, 64]}


def transformers(model: str, config: str, **options: Any) -> Callable[[], nn.Module]:
    def make() -> nn.Module:
        library = pytest.importorskip("transformers")
        return getattr(library, model)(getattr(library, config)(**options)).eval()

    return make


def pooling(kind: bool | str) -> Callable[[], nn.Module]:
    def make() -> nn.Module:
        library = pytest.importorskip("open_clip").transformer
        return library.VisionTransformer(
            64, 16, 64, 2, 1, 2.0, output_dim=8, attentional_pool=kind, attn_pooler_heads=1, attn_pooler_queries=4
        ).eval()

    return make


STRANGE = {
    "yolos": (
        transformers("YolosModel", "YolosConfig", **{**PLAIN, "image_size": [64, 64]}, num_detection_tokens=5),
        "holds YOLOS",
    ),
    "hiera": (transformers("HieraModel", "HieraConfig", **SMALL), "holds Hiera .* as hiera_tiny_224"),
    "aimv2": (transformers("Aimv2VisionModel", "Aimv2VisionConfig", **PLAIN), "holds AIMv2 .* as aimv2_large"),
    "swin": (transformers("SwinModel", "SwinConfig", **WINDOWS, use_absolute_embeddings=True), "absolute position"),
    "swinv2": (
        transformers("Swinv2Model", "Swinv2Config", **WINDOWS, use_absolute_embeddings=True),
        "absolute position",
    ),
    "coca": (pooling(True), "attentional pooling"),
    "parallel": (pooling("parallel"), "attentional pooling"),
    "cascade": (pooling("cascade"), "attentional pooling"),
}


@pytest.mark.parametrize("key", STRANGE)
def test_an_unsupported_model_is_refused_by_its_name(key: str, tmp_path: Path) -> None:
    make, message = STRANGE[key]
    module = make()
    for path in (saved(module, tmp_path), tmp_path / "live.pth"):
        if path.suffix == ".pth":
            torch.save(module.state_dict(), path)
        with pytest.raises(WeightsError, match=message):
            vx.load_model(weights=path)


@pytest.mark.parametrize("unsupported", UNSUPPORTED, ids=lambda one: one.name.en)
def test_the_names_that_a_sentence_advises_are_timms(unsupported: Unsupported) -> None:
    advised = re.findall(r"as (\w+)$", unsupported.why.en)
    assert all(timm.is_model(name) for name in advised)
    assert all(name in unsupported.why.zh for name in advised)
