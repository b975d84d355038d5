"""Whole check-ups: planted faults are named and mended, and what is healthy is called so."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor, nn

import vitexplorer as vx
from vitexplorer.core.text import SettingError
from vitexplorer.diagnosis import CAUSES, Diagnosis, diagnose
from vitexplorer.diagnosis.answers import logits_of, run_of
from vitexplorer.diagnosis.repairs import write_repairs
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.preprocess import normalise
from vitexplorer.scenes import draw_scene

MODEL = "scenes_vit_patch16_192"
PICTURES = 96
SECONDS = 3600
"""Time that leaves no candidate out, however slow the machine is"""
HALF = (0.5, 0.5, 0.5), (0.5, 0.5, 0.5)


@pytest.fixture(scope="module")
def model() -> LoadedModel:
    return vx.load_model(MODEL)


@pytest.fixture(scope="module")
def scenes() -> tuple[list[np.ndarray], list[int]]:
    drawn = [draw_scene("test", 5000 + number, 192) for number in range(PICTURES)]
    return [scene.image for scene in drawn], [scene.label for scene in drawn]


def fed(pictures: list[np.ndarray], mean=(0.5, 0.5, 0.5), std=(0.25, 0.25, 0.25)) -> Tensor:
    return torch.cat([normalise(picture, mean, std) for picture in pictures])


def accuracy(module: nn.Module, batch: Tensor, labels: list[int]) -> float:
    return float((logits_of(run_of(module), batch).argmax(1) == np.array(labels)).mean())


PLANTED: dict[str, tuple[str, Callable[[list[np.ndarray]], Tensor]]] = {
    "half the contrast": ("wrong_normalisation", lambda pictures: fed(pictures, *HALF)),
    "twice": ("wrong_normalisation", lambda pictures: (fed(pictures) - 0.5) / 0.25),
    "0-255": ("not_scaled", lambda pictures: 255 * fed(pictures, (0, 0, 0), (1, 1, 1))),
    "0-255, normalised": ("not_scaled", lambda pictures: fed(pictures, (0, 0, 0), (1 / 255,) * 3) * 4 - 2),
    "scaled twice": ("scaled_twice", lambda pictures: (fed(pictures, (0, 0, 0), (1, 1, 1)) / 255 - 0.5) / 0.25),
    "transposed": ("axes_swapped", lambda pictures: fed(pictures).transpose(2, 3)),
    "turned": ("rotated", lambda pictures: fed(pictures).rot90(1, (2, 3))),
    "channels last": (
        "axes_swapped",
        lambda pictures: fed(pictures).permute(0, 2, 3, 1).reshape(len(pictures), 3, 192, 192),
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("fault", PLANTED)
def test_a_wrong_feed_is_named_and_mended(model: LoadedModel, scenes, fault: str) -> None:
    pictures, labels = scenes
    cause, plant = PLANTED[fault]
    batch = plant(pictures)
    report = diagnose(model, batch, labels, seconds=SECONDS)
    found = report.findings[0]
    assert found.cause == cause
    assert found.before == pytest.approx(accuracy(model.module, batch, labels))
    assert found.after == pytest.approx(accuracy(model.module, found.repaired(batch), labels))
    right = accuracy(model.module, fed(pictures), labels)
    assert found.after >= right - 0.03
    assert not report.healthy
    assert "rises from" in found.sentence


@pytest.mark.thorough
@pytest.mark.parametrize("fault", ["0-255", "scaled twice"])
def test_a_wrong_feed_is_named_without_labels(model: LoadedModel, scenes, fault: str) -> None:
    cause, plant = PLANTED[fault]
    found = diagnose(model, plant(scenes[0]), seconds=SECONDS).findings[0]
    assert found.cause == cause
    torch.testing.assert_close(found.repaired(plant(scenes[0])), fed(scenes[0]), atol=2e-3, rtol=0)


@pytest.mark.thorough
def test_a_mistake_that_the_answers_do_not_show_is_undecided(model: LoadedModel, scenes) -> None:
    """Half the contrast changes the answers to these scenes by less than chance may."""
    report = diagnose(model, PLANTED["half the contrast"][1](scenes[0]), seconds=SECONDS)
    assert report.findings == ()
    assert "wrong_normalisation" in report.undecided


def test_what_there_was_no_time_for_is_undecided(model: LoadedModel, scenes) -> None:
    report = diagnose(model, fed(scenes[0][:8]), seconds=0)
    causes = {"wrong_normalisation", "rotated", "qkv_misordered", "positions_transposed"}
    assert {report.undecided[cause].en for cause in causes} == {"The time ran out before this was tried."}
    assert not causes & set(report.checked)


@pytest.mark.thorough
@pytest.mark.parametrize("with_labels", [True, False])
def test_what_is_healthy_is_called_so(model: LoadedModel, scenes, with_labels: bool) -> None:
    report = diagnose(model, scenes[0], scenes[1] if with_labels else None, seconds=SECONDS)
    assert report.healthy, report
    assert report.findings == ()
    assert set(report.checked) | set(report.undecided) == set(CAUSES)
    assert not set(report.checked) & set(report.undecided)


@pytest.mark.thorough
def test_two_faults_at_once_are_both_named(model: LoadedModel, scenes) -> None:
    pictures, labels = scenes
    batch = 255 * fed(pictures, (0, 0, 0), (1, 1, 1)).rot90(1, (2, 3))
    shifted = [label + 1 for label in labels]
    report = diagnose(model, batch, shifted, seconds=SECONDS)
    assert {"rotated", "not_scaled", "labels_shifted"} <= {finding.cause for finding in report.findings}
    repaired = next(finding.repaired for finding in report.findings if finding.cause == "labels_shifted")
    assert repaired == labels


@pytest.mark.thorough
def test_a_callers_preprocessing_is_mended(model: LoadedModel, scenes) -> None:
    def mistaken(picture: Image.Image) -> Tensor:
        return torch.from_numpy(np.array(picture)).permute(2, 0, 1).float()

    (found, *_) = diagnose(model, scenes[0], scenes[1], mistaken, seconds=SECONDS).findings
    assert found.cause == "not_scaled"
    right = normalise(scenes[0][0], (0.5, 0.5, 0.5), (0.25, 0.25, 0.25))[0]
    torch.testing.assert_close(found.repaired(Image.fromarray(scenes[0][0])), right, atol=2e-3, rtol=0)


def test_the_model_is_left_as_it_was(model: LoadedModel, scenes) -> None:
    state = copy.deepcopy(model.module.state_dict())
    before = torch.get_rng_state()
    diagnose(model, fed(scenes[0][:8]), scenes[1][:8], seconds=0)
    assert torch.equal(torch.get_rng_state(), before)
    assert not model.module.training
    for name, tensor in model.module.state_dict().items():
        assert torch.equal(tensor, state[name])


def test_a_report_is_short_and_can_be_passed_on(model: LoadedModel, tmp_path: Path) -> None:
    module = copy.deepcopy(model.module)
    with torch.no_grad():
        module.blocks[3].attn.proj.weight[:, :64] = 0
        module.pos_embed[:, 1:] = module.pos_embed[:, 1:2].clone()
    report = diagnose(replace(model, module=module), training=[{"head.weight": (0.5, 1.0), "norm.bias": (0.0, 1.0)}])
    causes = [finding.cause for finding in report.findings]
    assert sorted(causes) == ["dead_heads", "nothing_trains", "positions_missing", "rate_too_high"]
    assert len(str(report).splitlines()) <= 8
    written = json.loads(report.to_json())
    assert [finding["cause"] for finding in written["findings"]] == causes
    assert written["undecided"]["labels_permuted"] == "There are no pictures."
    assert report.record("zh")["undecided"]["labels_permuted"] == "没有图像。"
    assert all(f"`{cause}`" in report.to_markdown() for cause in causes)
    assert write_repairs(report, tmp_path / "out") == []


def test_nothing_to_check_is_not_healthy() -> None:
    assert not Diagnosis("x", (), {}, (), 0, 0.0).healthy


@pytest.mark.usefixtures("unchecked")
def test_a_training_of_another_form_gets_a_sentence(model: LoadedModel) -> None:
    for training in (3, [3], [{"a": 1.0}], []):
        with pytest.raises(SettingError, match="steps of a training"):
            diagnose(model, training=training)
