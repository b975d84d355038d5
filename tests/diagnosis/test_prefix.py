"""Tokens before the patches are told from patches by two pictures of noise."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.helpers.small_families import capture_case
from tests.helpers.small_models import RECIPES, load_small
from vitexplorer.core.types import BlockSite, PatchGrid
from vitexplorer.diagnosis import diagnose
from vitexplorer.diagnosis.prefix import unchanged
from vitexplorer.models.family import ModelFamily
from vitexplorer.models.loading import LoadedModel


def causes(model: LoadedModel) -> set[str]:
    return {finding.cause for finding in diagnose(model).findings} - {"weights_not_loaded", "half_loaded"}


@pytest.mark.parametrize(
    "key", ["vit", "deit_distilled", "dinov2_registers", "registers_only", "siglip", "swin", "beit"]
)
def test_the_tokens_of_a_model_are_what_they_are_named(key: str) -> None:
    model = load_small(key)
    same = unchanged(model)
    count = len(RECIPES[key].prefix_tokens)
    assert same[:count].all()
    assert not same[count:].any()
    assert causes(model) & {"prefix_token_missing", "prefix_tokens_among_patches"} == set()


def named(model: LoadedModel, *tokens: str) -> LoadedModel:
    """Return the model with a family that names other prefix tokens, as a wrong description of a module does."""
    kind: type[ModelFamily] = type(model.family)

    class Renamed(kind):
        def prefix_tokens(self, module):
            return tokens

        def blocks(self, module, input_size):
            rows, cols = (side // 16 for side in input_size)
            grid = PatchGrid(rows, cols, 16, len(tokens))
            return tuple(BlockSite(name=f"blocks.{at}", grid=grid) for at in range(len(module.blocks)))

    return replace(model, family=Renamed())


def test_a_patch_taken_for_a_class_token_is_named() -> None:
    assert causes(named(load_small("siglip"), "cls")) >= {"prefix_token_missing"}


def test_a_class_token_among_the_patches_is_named() -> None:
    report = diagnose(named(load_small("vit")))
    finding = next(finding for finding in report.findings if finding.cause == "prefix_tokens_among_patches")
    assert finding.sentence.startswith("1 token among the patches is the same")


def test_a_classifier_that_reads_the_first_patch_is_named() -> None:
    model = load_small("uneven")
    module = copy.deepcopy(model.module)
    module.attn_pool, module.global_pool = None, "token"
    assert "prefix_token_missing" in causes(replace(model, module=module))


def test_a_model_that_sees_nothing_stays_undecided() -> None:
    model = load_small("vit")
    module = copy.deepcopy(model.module)
    torch.nn.init.zeros_(module.patch_embed.proj.weight)
    report = diagnose(replace(model, module=module))
    assert report.undecided["prefix_tokens_among_patches"].en == "No token changes with the picture."


def test_without_a_stream_it_stays_undecided() -> None:
    report = diagnose(capture_case("cait").model)
    assert "not known" in report.undecided["prefix_token_missing"].en
    assert np.size(report.findings) >= 0
