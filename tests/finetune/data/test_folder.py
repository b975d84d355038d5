"""Class folders: the order of images, clutter, odd names, and folders that are refused."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.image_folders import fill, kinds, pets, refused, small
from vitexplorer.finetune.data import Dataset, Item, inspect, read_folder, split
from vitexplorer.storage.findings import readable_name


def test_class_folders_are_read_in_order(tmp_path):
    dataset = read_folder(fill(tmp_path, pets()))
    assert dataset.task == "classification"
    assert dataset.classes == ("cats", "dogs")
    assert [item.path for item in dataset.items] == [f"{kind}/{i}.png" for kind in ("cats", "dogs") for i in range(3)]
    assert dataset.targets.tolist() == [0, 0, 0, 1, 1, 1]
    assert dataset.counts.tolist() == [3, 3]
    assert dataset.path(4).read_bytes() == small(101)
    assert dataset.findings == ()


def test_a_folder_around_everything_and_folders_inside_a_class_do_not_matter(tmp_path):
    files = {f"my pets/{name.replace('/', '/indoor/', i % 2)}": data for i, (name, data) in enumerate(pets().items())}
    dataset = read_folder(fill(tmp_path, files))
    assert dataset.classes == ("cats", "dogs")
    assert dataset.counts.tolist() == [3, 3]


def test_a_split_that_is_there_is_pooled_and_the_test_folder_left_alone(tmp_path):
    for part in ("train", "val", "test"):
        fill(tmp_path / part, pets(2))
    dataset = read_folder(tmp_path)
    assert dataset.classes == ("cats", "dogs")
    assert {item.path.split("/")[0] for item in dataset.items} == {"train", "val"}
    assert set(kinds(dataset.findings)) == {"pooled", "held_back"}


def test_train_and_test_with_bare_images_are_no_classes(tmp_path):
    fill(tmp_path, {f"{part}/{i}.png": small(i) for part in ("train", "test") for i in range(3)})
    assert "train" in refused(read_folder, tmp_path)


def test_clutter_is_skipped_and_everything_else_is_named(tmp_path):
    clutter = ("__MACOSX/cats/._0.png", "cats/.DS_Store", "cats/Thumbs.db", ".ipynb_checkpoints/0.png", "cats/._0.png")
    files = {
        **pets(),
        **dict.fromkeys(clutter, b"x"),
        "readme.txt": b"hi",
        "logo.png": small(9),
        "cats/more.zip": b"PK",
    }
    (tmp_path / "birds").mkdir()
    findings = kinds(read_folder(fill(tmp_path, files)).findings)
    assert findings == {
        "left_out_archive": ("cats/more.zip",),
        "left_out_other": ("readme.txt",),
        "outside_classes": ("logo.png",),
        "empty_classes": ("birds",),
    }


def test_links_never_lead_out_of_the_folder(tmp_path):
    root = fill(tmp_path / "data", pets())
    fill(tmp_path, {"secret.png": small(5), "others/a.png": small(6)})
    (root / "cats/out.png").symlink_to(tmp_path / "secret.png")
    (root / "cats/in.png").symlink_to(root / "dogs/0.png")
    (root / "birds").symlink_to(tmp_path / "others")
    (root / "dogs/round").symlink_to(root)
    (root / "dogs/dead.png").symlink_to(root / "nothing.png")
    dataset = read_folder(root)
    assert [i.path for i in dataset.items if not i.path[5].isdigit()] == ["cats/in.png"]
    assert kinds(dataset.findings)["left_out_link"] == ("birds", "cats/out.png", "dogs/dead.png", "dogs/round")


def test_a_pipe_is_not_waited_for(tmp_path):
    fill(tmp_path, pets())
    os.mkfifo(tmp_path / "cats/pipe.png")
    assert kinds(read_folder(tmp_path).findings) == {"left_out_other": ("cats/pipe.png",)}


@pytest.mark.parametrize("what", ["missing", "a file", "empty", "flat", "null"])
def test_what_is_no_dataset_is_refused(tmp_path, what):
    place = {"missing": tmp_path / "none", "a file": tmp_path / "a.png", "null": Path("a\0b")}.get(what, tmp_path)
    fill(tmp_path, {} if what == "empty" else {"a.png": small(1)})
    message = refused(read_folder, place)
    assert str(tmp_path) not in message  # the folder of an upload is nobody's business


def test_too_many_files_are_refused(tmp_path, limit):
    limit(data_files=8)
    read_folder(fill(tmp_path, pets()))
    assert "VIT_DATA_FILES" in refused(read_folder, fill(tmp_path, pets(4)))


ODD = [
    "日本語 猫",
    "кошка",
    "قطة",
    "แมว",
    "고양이",
    "γάτα",
    "बिल्ली",
    "🐈‍⬛",
    "e\u0301cole",
    "a'b\"c",
    "<b>x",
    "-rf",
    "x" * 200,
]


def test_ten_thousand_classes_in_odd_scripts(tmp_path):
    names = [f"{ODD[i % len(ODD)]} {i}" for i in range(10_000)]
    data = small(0)
    for name in names:
        fill(tmp_path, {f"{name}/a.png": data})
    dataset = read_folder(tmp_path)
    assert dataset.classes == tuple(sorted(map(readable_name, names)))
    assert dataset.counts.tolist() == [1] * 10_000
    doubled = Dataset(tmp_path, tuple(Item(f"{i.path}{k}", i.target) for i in dataset.items for k in "ab"), dataset.task, dataset.classes)  # fmt: skip  # noqa: E501
    sides = split(doubled)
    assert np.bincount(doubled.targets[list(sides.validation)]).tolist() == [1] * 10_000


def test_names_that_are_no_unicode_or_turn_the_text_around_are_made_readable(tmp_path):
    raw = os.fsencode(tmp_path) + b"/" + "猫咪照片".encode("gbk")
    os.mkdir(raw)
    with open(raw + b"/a.png", "wb") as file:
        file.write(small(1))
    fill(tmp_path, {"dog\u202egnp.exe/a.png": small(2), "cafe\u0301/b.png": small(3), "a\nb/c.png": small(4)})
    dataset = read_folder(tmp_path)
    assert set(dataset.classes) == {"猫咪照片", "dog\ufffdgnp.exe", "café", "a\ufffdb"}
    assert not inspect(dataset).unreadable
    "".join(dataset.classes).encode()
    assert len(dataset.digest) == 64


def test_classes_that_differ_in_capitals_only_are_pointed_out(tmp_path):
    fill(tmp_path, {"Cat/a.png": small(1), "cat /b.png": small(2), "dog/c.png": small(3)})
    assert kinds(read_folder(tmp_path).findings) == {"similar_names": ("Cat = cat ",)}
