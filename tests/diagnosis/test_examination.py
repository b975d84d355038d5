"""Check-up of models without classes: each picture is compared with the mean of each class."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest
import torch

import vitexplorer as vx
from vitexplorer.diagnosis.answers import class_mean_logits
from vitexplorer.diagnosis.examination import Examination
from vitexplorer.diagnosis.subject import subject_of
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.preprocess import normalise
from vitexplorer.scenes import draw_scene

CLASSES, EACH = 4, 6


@pytest.fixture(scope="module")
def dino() -> LoadedModel:
    return vx.load_model("scenes_dino_patch16_192", size=96)


@pytest.fixture(scope="module")
def scenes() -> tuple[list[np.ndarray], list[str]]:
    """Return pictures of some shapes, with names that no model knows."""
    drawn: dict[int, list[np.ndarray]] = {}
    for number in count():
        scene = draw_scene("test", 12_000 + number, 96)
        drawn.setdefault(scene.label, []).append(scene.image)
        full = [label for label, pictures in drawn.items() if len(pictures) >= EACH]
        if len(full) == CLASSES:
            break
    pictures = [picture for label in full for picture in drawn[label][:EACH]]
    return pictures, [f"mine {label}" for label in full for _ in range(EACH)]


def test_class_means_answer_as_the_slow_twin_says():
    """Logit of a class: ten times the cosine of the picture and the mean of its other pictures, all centred."""
    features = np.random.default_rng(0).normal(size=(7, 5))
    labels = np.array([0, 1, 1, 2, 0, 2, 1])
    logits = class_mean_logits(features.reshape(7, 5, 1), labels)
    centred = features - features.mean(0)
    for i in range(7):
        for label in range(3):
            members = [centred[j] for j in range(7) if j != i and labels[j] == label]
            mean = sum(members) / len(members)
            cosine = mean @ centred[i] / (np.linalg.norm(mean) * np.linalg.norm(centred[i]))
            assert logits[i, label] == pytest.approx(10 * cosine)


def test_pixels_that_were_not_scaled_are_named_and_mended(dino: LoadedModel, scenes) -> None:
    pictures, labels = scenes
    raw = torch.stack([torch.from_numpy(picture).permute(2, 0, 1).float() for picture in pictures])
    report = vx.diagnose(dino, raw, labels)
    found = report.findings[0]
    assert (found.cause, found.measure) == ("not_scaled", "accuracy")
    assert found.after > found.before + 0.1
    own = dino.preprocessing
    right = torch.cat([normalise(picture, own.mean, own.std) for picture in pictures])
    torch.testing.assert_close(found.repaired(raw), right, atol=1e-3, rtol=1e-3)
    assert all(answer.en.startswith("most like mine ") for side in found.proof.answers for answer in side)
    assert report.figure() is not None


def test_a_healthy_one_has_no_finding(dino: LoadedModel, scenes) -> None:
    pictures, labels = scenes
    report = vx.diagnose(dino, pictures, labels)
    assert report.findings == ()
    assert "wrong_normalisation" in report.checked
    assert {"labels_permuted", "head_not_loaded", "labels_doubtful"} <= set(report.undecided)


@pytest.mark.parametrize("labels", [None, ["a"] * 8, list("abcdefgh")])
def test_without_two_of_a_class_the_reason_is_given(dino: LoadedModel, scenes, labels: list[str] | None) -> None:
    report = vx.diagnose(dino, scenes[0][:8], labels)
    assert "labels, two or more of each class" in report.undecided["wrong_normalisation"].en
    assert report.proof is None


def test_candidates_are_tried_on_whole_classes(dino: LoadedModel) -> None:
    """Of many classes a few are taken whole, not one picture of each."""
    labels = np.arange(600) % 60
    exam = Examination(subject_of(dino, torch.zeros(600, 3, 192, 192), labels.tolist()), 60)
    vars(exam)["affordable"] = 64
    counts = np.unique(exam.subject.labels[exam.few], return_counts=True)[1]
    assert counts.min() >= 2
    assert len(exam.few) == len(exam.fewest) == 64


def test_only_classes_that_occur_are_numbered(dino: LoadedModel) -> None:
    labels = [f"class {number:06}" for number in range(4000)]
    subject = subject_of(dino, torch.zeros(4000, 3, 1, 1), labels)
    assert len(subject.classes) == len(subject.labels) == 512
    assert [subject.classes[number] for number in subject.labels][:2] == ["class 000000", "class 000008"]
