"""Drawn example datasets pass the report."""

from __future__ import annotations

from pathlib import Path

import pytest

from vitexplorer.finetune.data import example_folder, inspect, read_folder
from vitexplorer.scenes import draw_scene
from vitexplorer.scenes.shapes import LABEL_NAMES


def test_the_example_folders_are_good_datasets(tmp_path):
    dataset = read_folder(example_folder(tmp_path / "classes", 2, 64))
    assert dataset.classes == tuple(sorted(LABEL_NAMES))
    assert dataset.counts.tolist() == [2] * len(LABEL_NAMES)
    report = inspect(dataset)
    assert (report.unreadable, report.near, report.can_train) == ((), (), True)
    assert read_folder(example_folder(tmp_path / "same", 2, 64)).digest == dataset.digest


def test_the_example_table_says_how_much_the_object_covers(tmp_path):
    dataset = read_folder(example_folder(tmp_path / "numbers", 1, 64, task="regression"))
    assert (dataset.task, dataset.target_name, len(dataset)) == ("regression", "area_percent", len(LABEL_NAMES))
    for item in dataset.items:
        mask = draw_scene("examples", int(Path(item.path).stem), 64).mask
        assert item.target == pytest.approx(100 * mask.mean(), abs=0.006)
