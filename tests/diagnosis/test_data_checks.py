"""Copies, leaks and imbalance in a folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import vitexplorer as vx
from vitexplorer.diagnosis.data_checks import _surely_others, check_data, check_doubtful_labels
from vitexplorer.diagnosis.examination import Examination
from vitexplorer.diagnosis.subject import subject_of
from vitexplorer.scenes import draw_scene


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of different scenes, two splits with two classes each."""
    for number in range(12):
        split, name = ("train", "val")[number % 3 == 0], ("gear", "heart")[number % 2]
        path = tmp_path / split / name / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(draw_scene("test", number, 96).image).save(path)
    return tmp_path


def checked(folder: Path) -> Examination:
    exam = Examination(subject_of(vx.load_model("scenes_vit_patch16_192"), folder), 60)
    check_data(exam)
    return exam


def test_a_clean_folder_has_no_finding(folder: Path) -> None:
    exam = checked(folder)
    assert exam.findings == []
    assert {"duplicates", "leak_between_splits", "imbalanced"} <= set(exam.checked)


def test_a_smaller_copy_in_the_other_split_is_a_leak(folder: Path) -> None:
    original = next((folder / "train" / "gear").iterdir())
    Image.open(original).resize((80, 80)).save(folder / "val" / "gear" / "copy.jpg")
    found = {finding.cause: finding for finding in checked(folder).findings}
    assert set(found) == {"duplicates", "leak_between_splits"}
    (group,) = found["leak_between_splits"].evidence["groups"]
    assert sorted(group) == sorted([f"train/gear/{original.name}", "val/gear/copy.jpg"])


def test_a_folder_is_judged_without_a_model(folder: Path) -> None:
    original = next((folder / "train" / "gear").iterdir())
    Image.open(original).resize((80, 80)).save(folder / "val" / "gear" / "copy.jpg")
    report = vx.diagnose(None, folder)
    assert {finding.cause for finding in report.findings} == {"duplicates", "leak_between_splits"}
    assert report.model == ""
    assert "Check-up of the pictures" in str(report)
    assert report.undecided["half_loaded"].en == "There is no model."
    assert "imbalanced" in report.checked
    assert not vx.diagnose(None).healthy


def test_ten_to_one_is_imbalanced(folder: Path) -> None:
    for path in sorted(folder.rglob("heart/*.png"))[1:]:
        path.unlink()
    for number in range(20, 24):
        Image.fromarray(draw_scene("test", number, 96).image).save(folder / "train" / "gear" / f"{number}.png")
    (found,) = checked(folder).findings
    assert (found.cause, found.evidence["most"], found.evidence["least"]) == ("imbalanced", 10, 1)


@pytest.mark.parametrize(
    ("name", "size", "least"), [("scenes_vit_patch16_192", 192, 2), ("scenes_dino_patch16_192", 96, 0)]
)
def test_labels_of_another_class_are_doubtful(name: str, size: int, least: int) -> None:
    """Some of eight wrong labels are, and no right one; a model without classes is less sure."""
    model = vx.load_model(name, size=size)
    drawn = [draw_scene("test", 9000 + number, size) for number in range(64)]
    right = np.array([scene.label for scene in drawn])
    labels, wrong = right.copy(), np.arange(3, 64, 8)
    labels[wrong] = (labels[wrong] + np.random.default_rng(0).integers(1, 12, len(wrong))) % 12
    for given, doubtful, fewest in ((labels, wrong, least), (right, (), 0)):
        exam = Examination(subject_of(model, [scene.image for scene in drawn], given.tolist()), 60)
        check_doubtful_labels(exam)
        rows = [row for finding in exam.findings for row in finding.evidence["rows"]]
        assert set(rows) <= set(doubtful)
        assert len(rows) >= fewest
        assert "labels_doubtful" in exam.checked


def test_a_sure_answer_is_as_likely_as_usual_for_its_class() -> None:
    """Labels of class 0 are 0.65 likely on average, of class 1 0.43: only the last label is less than a tenth of it."""
    chances = np.array([[0.95, 0.05], [0.95, 0.05], [0.92, 0.08], [0.4, 0.6], [0.4, 0.6], [0.05, 0.95]])
    assert _surely_others(chances, np.array([0, 0, 1, 1, 1, 0])).tolist() == [False] * 5 + [True]
    chances[5] = 0.11, 0.89
    assert not _surely_others(chances, np.array([0, 0, 1, 1, 1, 0])).any()
    assert not _surely_others(chances, np.array([0, 0, 7, -1, 1, 0])).any()
