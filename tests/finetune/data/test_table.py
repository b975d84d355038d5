"""Tables of images: encodings, bad rows, columns, and paths that lead out of the folder."""

from __future__ import annotations

import pytest

from tests.helpers.image_folders import encoded, fill, kinds, pets, picture, refused, small, table
from vitexplorer.core.registry import UnknownNameError
from vitexplorer.finetune.data import Item, Pick, folder_columns, read_folder, read_table, table_columns
from vitexplorer.finetune.data.cells import read_cells
from vitexplorer.storage.class_folders import class_dataset
from vitexplorer.storage.image_files import list_files

# ------------------------------------------------------------------------------------------------- tables


def test_pawpularity_is_read_as_it_is_downloaded(tmp_path):
    ids = [f"{i:032x}" for i in range(60)]
    for part, names in (("train", ids), ("test", [f"{i:032x}" for i in range(90, 93)])):
        fill(tmp_path, {f"pet/{part}/{name}.jpg": encoded(picture(i), "jpeg") for i, name in enumerate(names)})
    features = "Subject Focus,Eyes,Face"
    table(tmp_path / "pet", [f"Id,{features},Pawpularity", *(f"{name},0,1,0,{1 + i}" for i, name in enumerate(ids))])
    table(tmp_path / "pet", [f"Id,{features}", *(f"{i:032x},0,1,0" for i in range(90, 93))], "test.csv")
    table(tmp_path / "pet", ["Id,Pawpularity", *(f"{i:032x},65.4" for i in range(90, 93))], "sample_submission.csv")
    dataset = read_folder(tmp_path)
    assert (dataset.task, dataset.target_name, dataset.classes) == ("regression", "Pawpularity", ())
    assert dataset.items[3] == Item(f"pet/train/{ids[3]}.jpg", 4.0)
    assert len(dataset) == 60
    findings = kinds(dataset.findings)
    assert findings["table_chosen"] == ("train.csv",)
    assert len(findings["unlisted"]) == 3
    picked = read_folder(tmp_path, Pick(target="Eyes"))
    assert (picked.task, picked.classes) == ("classification", ("1",))
    columns = folder_columns(tmp_path)
    assert [(name, bool(cell)) for name, cell in columns.examples.items()][::4] == [
        ("Id", True),
        ("Pawpularity", False),
    ]
    assert (columns.image, columns.target, columns.task) == ("Id", "Pawpularity", "regression")


@pytest.mark.parametrize(
    ("cells", "task"),
    [
        (["0", "1", "1"], "classification"),
        (["cat", "dog", "dog"], "classification"),
        (["0.5", "1", "2"], "regression"),
        ([str(i) for i in range(21)], "regression"),
        ([str(i) for i in range(20)], "classification"),
        (["0.5", "nan", ""], "regression"),
    ],
)
def test_numbers_are_a_quantity_where_they_have_fractions_or_are_many(tmp_path, cells, task):
    fill(tmp_path, {f"{i}.png": small(i) for i in range(len(cells))})
    path = table(tmp_path, ["image,y", *(f"{i}.png,{cell}" for i, cell in enumerate(cells))])
    assert read_table(path).task == table_columns(path).task == task
    assert read_table(path, pick=Pick(task="classification")).task == "classification"


def test_every_bad_row_is_named_and_the_others_stay(tmp_path):
    fill(
        tmp_path, {f"train/{i}.png": small(i) for i in range(10)} | {"other/9.png": small(30), "other/8.png": small(31)}
    )
    rows = ["0,1.5", "1,2.5", "2,nan", "3,", "4,inf", "5,high", "6,3.5", "6,3.5", "7,1", "7,2", "gone,4", "8,4", "9"]
    path = table(tmp_path, ["image,score", *rows], "scores.csv")
    dataset = read_table(path, pick=Pick(task="regression"))
    assert [tuple(item) for item in dataset.items] == [("train/0.png", 1.5), ("train/1.png", 2.5), ("train/6.png", 3.5)]
    findings = kinds(dataset.findings)
    assert findings["missing_files"] == ("gone",)
    assert findings["ambiguous_files"] == ("8", "9")
    assert findings["no_target"] == tuple(f"train/{i}.png" for i in (2, 3, 4, 5))
    assert findings["duplicate_rows"] == ("train/6.png",)
    assert findings["contradicting_rows"] == ("train/7.png",)


def test_no_row_reaches_out_of_the_folder_or_another_folder_of_the_same_name(tmp_path):
    root = fill(tmp_path / "data", {"cats/1.png": small(1), "dogs/2.png": small(2)})
    fill(tmp_path, {"secret.png": small(3)})
    path = table(root, ["image,y", "cats/1.png,a", "dogs/1.png,b", "../secret.png,b", f"{tmp_path}/secret.png,b"])
    dataset = read_table(path)
    assert [item.path for item in dataset.items] == ["cats/1.png"]
    assert len(kinds(dataset.findings)["missing_files"]) == 3


def test_paths_of_another_machine_and_of_windows_are_understood(tmp_path):
    fill(tmp_path, {"cats/1.png": small(1), "dogs/1.PNG": small(2)})
    for prefix in ("C:\\data\\pets\\", "/data/pets/", "./", ""):
        path = table(tmp_path, ["image,y", f"{prefix}cats/1.png,a", f"{prefix}dogs\\1.png,b"])
        assert [tuple(item) for item in read_table(path).items] == [("cats/1.png", 0), ("dogs/1.PNG", 1)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_table_is_read_in_the_encodings_and_with_the_delimiters_of_spreadsheets(tmp_path, encoding, delimiter):
    fill(tmp_path, {"猫.png": small(1), "b.png": small(2)})
    number = "3,5" if delimiter == ";" else "3.5"
    rows = [delimiter.join(row) for row in (("图像", "分数"), ("猫.png", number), ("b.png", "4"))]
    dataset = read_table(table(tmp_path, rows, encoding=encoding))
    assert (dataset.target_name, dataset.targets.tolist()) == ("分数", [4.0, 3.5])


def test_a_table_without_a_header_and_with_columns_of_one_name(tmp_path):
    fill(tmp_path, {"a.png": small(1), "b.png": small(2)})
    assert read_table(table(tmp_path, ["a.png,cat", "b.png,dog"])).classes == ("cat", "dog")
    assert read_cells(table(tmp_path, ["x,x,", "1,2"])).columns == ("x", "x (2)", "column 3")


@pytest.mark.parametrize(
    "content",
    [b"", b"image,y\n", b"\x00\x01\x02\xff\xfe\x00", b"image\na.png\n", b"image,y\nzzz,1\n", b"image,y\na.png,\n"],
    ids=["empty", "header", "binary", "one column", "no image", "no target"],
)
def test_a_table_that_is_none_is_refused(tmp_path, content):
    fill(tmp_path, {"a.png": small(1), "t.csv": content})
    refused(read_table, tmp_path / "t.csv")
    refused(read_folder, tmp_path)
    assert "t.csv" in refused(read_table, tmp_path / "none" / "t.csv")


def test_a_column_that_is_not_there_is_answered_with_the_nearest(tmp_path):
    fill(tmp_path, {"a.png": small(1)})
    path = table(tmp_path, ["image,score", "a.png,1.5"])
    with pytest.raises(UnknownNameError, match="score"):
        read_table(path, pick=Pick(target="scores"))
    (tmp_path / "classes").mkdir()
    refused(read_folder, fill(tmp_path / "classes", pets()), Pick(target="score"))


def test_a_table_beside_class_folders_counts_only_where_it_names_their_images(tmp_path):
    fill(tmp_path, pets())
    table(tmp_path, ["name,price", "food,3", "toy,4"], "shop.csv")
    assert read_folder(tmp_path).classes == ("cats", "dogs")
    table(tmp_path, ["file,mood", *(f"{name},{'glad' if '0' in name else 'sad'}" for name in pets())], "mood.csv")
    assert read_folder(tmp_path).classes == ("glad", "sad")
    assert class_dataset(list_files(tmp_path)).classes == ("cats", "dogs")


# ------------------------------------------------------------------------------------------------- zips


def test_a_missing_number_is_no_class_and_a_word_may_be_one(tmp_path):
    names = list(pets())
    fill(tmp_path, pets())
    missing = read_table(
        table(tmp_path, ["image,y", *(f"{name},{i % 2}" for i, name in enumerate(names[:-1])), f"{names[-1]},NA"])
    )
    assert missing.classes == ("0", "1")
    assert {one.kind for one in missing.findings} >= {"no_target"}
    words = read_table(
        table(tmp_path, ["image,y", *(f"{name},{('none', 'some')[i % 2]}" for i, name in enumerate(names))])
    )
    assert words.classes == ("none", "some")
