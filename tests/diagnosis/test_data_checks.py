"""Copies, leaks and imbalance in a folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

import vitexplorer as vx
from vitexplorer.diagnosis.data_checks import check_data
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


def test_ten_to_one_is_imbalanced(folder: Path) -> None:
    for path in sorted(folder.rglob("heart/*.png"))[1:]:
        path.unlink()
    for number in range(20, 24):
        Image.fromarray(draw_scene("test", number, 96).image).save(folder / "train" / "gear" / f"{number}.png")
    (found,) = checked(folder).findings
    assert (found.cause, found.evidence["most"], found.evidence["least"]) == ("imbalanced", 10, 1)
