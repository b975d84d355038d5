"""Pictures unlike the training data of a bundled model: photographs, but not drawn ones of its kind in odd forms."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from PIL import Image

import vitexplorer as vx
from tests.helpers.small_models import load_small
from tests.helpers.thorough import quick
from vitexplorer.core.settings import ASSETS
from vitexplorer.core.text import same
from vitexplorer.diagnosis.diagnosis import Finding
from vitexplorer.diagnosis.examination import Examination
from vitexplorer.diagnosis.familiar import check_familiarity, share_farther
from vitexplorer.diagnosis.subject import subject_of
from vitexplorer.models.loading import LoadedModel
from vitexplorer.scenes import draw_scene

VIT = "scenes_vit_patch16_192"


@cache
def scenes() -> list[np.ndarray]:
    return [draw_scene("test", number, 192).image for number in range(24)]


def photographs() -> list[Image.Image]:
    draw, parts = np.random.default_rng(0), []
    for name in ("astronaut", "chelsea", "coffee"):
        with Image.open(ASSETS / "examples" / f"{name}.png") as opened:
            picture = opened.convert("RGB")
        side = min(picture.size) // 2
        for _ in range(8):
            left, top = (int(draw.integers(0, length - side)) for length in picture.size)
            parts.append(picture.crop((left, top, left + side, top + side)))
    return parts


def examined(model: str | LoadedModel, pictures: list | None, labels: list[int] | None = None) -> Examination:
    exam = Examination(subject_of(model, pictures, labels), 60.0)
    check_familiarity(exam)
    return exam


def test_photographs_are_unlike_drawn_scenes() -> None:
    exam = Examination(subject_of(VIT, photographs(), None), 60.0)
    exam.findings.append(Finding("labels_doubtful", same("doubtful"), 0.9))
    check_familiarity(exam)
    (finding,) = exam.findings
    assert "cannot doubt" in exam.undecided["labels_doubtful"].en
    assert finding.cause == "unlike_training_data"
    assert finding.evidence["share_of_pairs"] > 0.9
    assert "unlike those that the model was trained on" in finding.sentence


@pytest.mark.parametrize("odd", quick(["as drawn", "grey", "upscaled"], keep=["grey"]))
def test_scenes_in_odd_forms_are_of_the_same_kind(odd: str) -> None:
    pictures = scenes()
    if odd == "grey":
        pictures = [np.repeat(picture.mean(2, keepdims=True), 3, 2).astype(np.uint8) for picture in pictures]
    elif odd == "upscaled":
        small = [Image.fromarray(picture).resize((48, 48)) for picture in pictures]
        pictures = [np.asarray(picture.resize((192, 192))) for picture in small]
    exam = examined(VIT, pictures)
    assert exam.findings == []
    assert exam.checked == ["unlike_training_data"]


def test_other_models_and_few_pictures_cannot_be_judged() -> None:
    undecided = examined(load_small("vit"), scenes()).undecided
    assert "not known what pictures" in undecided["unlike_training_data"].en
    undecided = examined(VIT, scenes()[:9]).undecided
    assert undecided["unlike_training_data"].en.endswith("judged from 16 pictures on; there are 9.")
    assert "unlike_training_data" in examined(VIT, None).undecided


def test_good_answers_count_more_than_the_kind() -> None:
    model = vx.load_model(VIT, device="cpu")
    pictures = photographs()
    answers = [int(vx.capture(model, picture).logits.argmax()) for picture in pictures]
    assert examined(model, pictures, answers).findings == []


def test_the_share_of_pairs() -> None:
    familiar = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    given = np.array([[-1.0, 0.0], [1.0, 0.05]])
    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (given, familiar)]
    usual = [-max(float(unit[1][i] @ unit[1][j]) for j in range(3) if j != i) for i in range(3)]
    strange = [-max(float(row @ other) for other in unit[1]) for row in unit[0]]
    pairs = [(a > b) + 0.5 * (a == b) for a in strange for b in usual]
    assert share_farther(given, familiar) == pytest.approx(np.mean(pairs))
