"""A position embedding is told by itself that is in no order, in part or whole; turned, transposed, fresh ones pass."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

import vitexplorer as vx
from tests.helpers.small_models import load_small
from vitexplorer.diagnosis import diagnose
from vitexplorer.diagnosis.alternatives import position_table
from vitexplorer.diagnosis.positions import shuffled_share
from vitexplorer.models.catalog import catalog
from vitexplorer.models.loading import LoadedModel

BUNDLED = [entry.name for entry in catalog() if entry.bundled]
SHUFFLED = np.random.default_rng(3).permutation(144)
PLACES = np.arange(144).reshape(12, 12)


def table_of(model: LoadedModel) -> tuple[np.ndarray, tuple[int, int]] | None:
    table = position_table(model)
    if table is None:
        return None
    _, values, grid = table
    patches = values[0, -grid[0] * grid[1] :].double().numpy()
    return patches - patches.mean(0), grid


@pytest.mark.parametrize("name", BUNDLED)
def test_a_trained_table_is_in_order_until_it_is_shuffled(name: str) -> None:
    table = table_of(vx.load_model(name, device="cpu"))
    if table is None:
        return
    values, grid = table
    assert shuffled_share(values, grid) is None
    for part, least in ((1.0, 0.6), (0.5, 0.4), (0.25, 0.25)):
        order = np.arange(len(values))
        moved = np.random.default_rng(5).permutation(len(values))[: round(part * len(values))]
        order[np.sort(moved)] = moved
        share = shuffled_share(values[order], grid)
        assert share is not None
        assert share > least


@pytest.mark.parametrize("noise", [0.5, 1.0])
def test_noise_over_a_table_does_not_shuffle_it(noise: float) -> None:
    values, grid = table_of(vx.load_model("scenes_vit_patch16_192", device="cpu"))
    drawn = np.random.default_rng(0).normal(size=values.shape)
    assert shuffled_share(values + noise * values.std() * drawn, grid) is None


@pytest.mark.parametrize(
    "order",
    [PLACES.T, PLACES[::-1], PLACES[:, ::-1], np.rot90(PLACES), np.roll(PLACES.ravel(), 1)],
    ids=["transposed", "upside down", "mirrored", "turned", "moved by one"],
)
def test_neighbours_that_stay_neighbours_are_in_order(order: np.ndarray) -> None:
    values, grid = table_of(vx.load_model("scenes_vit_patch16_192", device="cpu"))
    assert shuffled_share(values[order.ravel()], grid) is None


@pytest.mark.parametrize("name", ["vit_tiny_patch16_224", "deit3_small_patch16_224", "vit_small_patch14_reg4_dinov2"])
def test_a_fresh_table_has_no_order_to_lose(name: str) -> None:
    values, grid = table_of(vx.load_model(name, weights="random"))
    assert shuffled_share(values, grid) is None


def test_a_small_table_cannot_be_judged() -> None:
    values, grid = table_of(load_small("vit"))
    assert len(values) == 16
    assert shuffled_share(values, grid) is None


def changed(change: Callable[[torch.Tensor], torch.Tensor]) -> LoadedModel:
    model = vx.load_model("scenes_vit_patch16_192", device="cpu")
    module = copy.deepcopy(model.module)
    with torch.no_grad():
        module.pos_embed[:, 1:] = change(module.pos_embed[:, 1:].clone())
    return replace(model, module=module)


def test_the_check_up_names_both_faults_without_pictures() -> None:
    report = diagnose(changed(lambda patches: patches[:, SHUFFLED]))
    assert [finding.cause for finding in report.findings] == ["positions_shuffled"]
    assert "3 or more patches away" in report.findings[0].sentence
    assert report.findings[0].proof.values.shape == (1, 12, 12)
    assert len(report.figure().data) > 1
    report = diagnose(changed(lambda patches: patches.mean(1, keepdim=True).expand_as(patches)))
    assert [finding.cause for finding in report.findings] == ["positions_missing"]
