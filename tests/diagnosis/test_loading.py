"""Fresh tensors are told from trained ones, and a classifier is judged by its answers."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import partial

import pytest
import torch
from torch import nn

import vitexplorer as vx
from tests.helpers.thorough import later, quick
from vitexplorer.diagnosis import diagnose
from vitexplorer.diagnosis.examination import Examination
from vitexplorer.diagnosis.labels import check_labels
from vitexplorer.diagnosis.loading import block_tensors, check_classifier, fresh_tensors, is_fresh
from vitexplorer.diagnosis.sentences import NO_WEIGHTS
from vitexplorer.diagnosis.subject import subject_of
from vitexplorer.models.seeding import seeded
from vitexplorer.scenes import draw_scene

TRAINED = ("scenes_vit_patch16_192", "scenes_swin_patch4_window6_192", "scenes_mae_patch16_192")
FRESH = ("vit_tiny_patch16_224", "swin_tiny_patch4_window7_224", "beit_base_patch16_224", "deit3_small_patch16_224")


def labelled_scenes(count: int) -> tuple[list, list[int]]:
    drawn = [draw_scene("test", 9000 + number, 192) for number in range(count)]
    return [scene.image for scene in drawn], [scene.label for scene in drawn]


@pytest.mark.parametrize("name", TRAINED)
def test_hardly_a_tensor_of_a_trained_model_looks_fresh(name: str) -> None:
    fresh, total = fresh_tensors(block_tensors(vx.load_model(name)))
    assert len(fresh) <= 1 < total


@pytest.mark.parametrize("name", [FRESH[0], *(later(name) for name in FRESH[1:])])
def test_all_tensors_of_a_new_model_look_fresh(name: str) -> None:
    fresh, total = fresh_tensors(block_tensors(vx.load_model(name, weights="random")))
    assert len(fresh) >= 0.97 * total


@pytest.mark.parametrize(
    "initialise",
    [
        partial(nn.init.trunc_normal_, std=0.02),
        nn.init.xavier_uniform_,
        nn.init.kaiming_uniform_,
        nn.init.kaiming_normal_,
    ],
)
def test_usual_initialisations_are_known(initialise) -> None:
    generator = torch.Generator().manual_seed(0)
    matrix = torch.empty(192, 96)
    initialise(matrix, generator=generator)
    assert is_fresh(matrix)
    matrix[:, 3] *= 3
    assert not is_fresh(matrix)
    assert is_fresh(torch.ones(32))
    assert not is_fresh(torch.randn(32, generator=generator))
    assert is_fresh(torch.randn(4, generator=generator)) is None


def test_layers_as_torch_draws_them_are_no_half_loaded_model() -> None:
    model = vx.load_model("scenes_vit_patch16_192")
    module = copy.deepcopy(model.module)
    with seeded(0):
        for part in module.modules():
            if hasattr(part, "reset_parameters"):
                part.reset_parameters()
    (found,) = diagnose(replace(model, module=module)).findings
    assert found.cause == "weights_not_loaded"
    assert found.evidence["fresh"] < 0.9 * found.evidence["tensors"], "biases are no constants"


def test_random_weights_that_were_asked_for_are_named() -> None:
    report = diagnose(vx.load_model("vit_tiny_patch16_224", weights="random"))
    assert [finding.cause for finding in report.findings] == ["weights_not_loaded"]
    assert "as was asked for" in report.findings[0].sentence
    assert not report.healthy


def test_a_file_of_which_a_quarter_is_missing_is_named() -> None:
    model = vx.load_model("scenes_vit_patch16_192")
    assert diagnose(model).healthy
    module, generator = copy.deepcopy(model.module), torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, parameter in list(module.named_parameters())[::4]:
            if parameter.ndim == 2:
                nn.init.trunc_normal_(parameter, std=0.02, generator=generator)
            elif parameter.ndim == 1:
                parameter.fill_(1.0 if name.endswith("norm1.weight") else 0.0)
    report = diagnose(replace(model, module=module))
    assert [finding.cause for finding in report.findings] == ["half_loaded"]
    assert report.findings[0].evidence["fresh"] >= 5


@pytest.mark.parametrize("seed", quick(range(3), keep=[0]))
def test_a_classifier_that_was_not_loaded_is_named_although_a_class_is_rare(seed: int) -> None:
    model = vx.load_model("scenes_vit_patch16_192")
    drawn = [draw_scene("test", 9000 + number, 192) for number in range(48)]
    rare = next(scene for scene in drawn if scene.label == 0)
    drawn = [rare, *(scene for scene in drawn if scene.label != 0)]
    module = copy.deepcopy(model.module)
    with torch.no_grad():
        module.head.weight.normal_(0, 0.02, generator=torch.Generator().manual_seed(seed))
        module.head.bias.zero_()
    images, labels = [scene.image for scene in drawn], [scene.label for scene in drawn]
    exam = Examination(subject_of(replace(model, module=module), images, labels), 60)
    check_classifier(exam)
    (found,) = exam.findings
    assert found.cause == "head_not_loaded"
    assert found.before < 0.4 < 0.6 < found.after
    healthy = Examination(subject_of(model, images, labels), 60)
    check_classifier(healthy)
    assert healthy.findings == []


def test_a_fresh_classifier_is_no_permutation_of_labels() -> None:
    model = vx.load_model("scenes_vit_patch16_192")
    images, labels = labelled_scenes(64)
    module = copy.deepcopy(model.module)
    with torch.no_grad():
        module.head.weight.normal_(0, 0.02, generator=torch.Generator().manual_seed(2))
        module.head.bias.zero_()
    exam = Examination(subject_of(replace(model, module=module), images, labels), 60)
    check_labels(exam)
    assert [finding.cause for finding in exam.findings] == ["labels_permuted"]
    check_classifier(exam)
    assert [finding.cause for finding in exam.findings] == ["head_not_loaded"]
    exam = Examination(subject_of(model, images, [(5 * label + 3) % 12 for label in labels]), 60)
    check_labels(exam)
    check_classifier(exam)
    assert [finding.cause for finding in exam.findings] == ["labels_permuted"]


def test_a_classifier_that_answers_rightly_with_other_weights_mended_was_loaded() -> None:
    model = vx.load_model("scenes_vit_patch16_192")
    images, labels = labelled_scenes(48)
    module = copy.deepcopy(model.module)
    with torch.no_grad():
        module.head.weight.copy_(module.head.weight.roll(1, dims=1))
    exam = Examination(subject_of(replace(model, module=module), images, labels), 60)
    check_classifier(exam)
    (fresh,) = exam.findings
    misread = replace(fresh, cause="qkv_misordered", after=0.98)
    exam.findings[:] = [misread]
    check_classifier(exam)
    assert exam.findings == [misread]
    exam.findings[:] = [replace(misread, after=0.2)]
    check_classifier(exam)
    assert [finding.cause for finding in exam.findings] == ["qkv_misordered", "head_not_loaded"]


def test_one_of_two_classifiers_that_was_not_loaded_is_named() -> None:
    model = vx.load_model("scenes_deit_patch16_192")
    images, labels = labelled_scenes(48)
    healthy = Examination(subject_of(model, images, labels), 60)
    check_classifier(healthy)
    assert healthy.findings == []
    module = copy.deepcopy(model.module)
    with torch.no_grad():
        module.head_dist.weight.normal_(0, 0.02, generator=torch.Generator().manual_seed(0))
        module.head_dist.bias.zero_()
    exam = Examination(subject_of(replace(model, module=module), images, labels), 60)
    assert exam.judged().value > 0.8, "the other answers for both"
    check_classifier(exam)
    (found,) = exam.findings
    assert found.sentence.startswith("The classifier head_dist was not loaded")
    assert found.before < 0.4 < 0.6 < found.after


def test_answers_of_weights_that_were_not_loaded_are_not_judged() -> None:
    model = vx.load_model("scenes_vit_patch16_192", weights="random")
    report = vx.diagnose(model, [draw_scene("test", number, 192).image for number in range(8)])
    assert report.findings[0].cause == "weights_not_loaded"
    assert report.undecided["rotated"] == report.undecided["qkv_misordered"] == NO_WEIGHTS
