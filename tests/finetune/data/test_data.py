"""Folders, zips and tables of images: what is read, what is refused with a sentence, and that nothing is ever lost.

The hostile half is first made honestly (a zip, a table), then spoilt in one place.
"""

from __future__ import annotations

import errno
import io
import os
import shutil
import stat
import struct
import zipfile
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from vitexplorer.core.registry import UnknownNameError
from vitexplorer.core.settings import settings
from vitexplorer.core.text import SettingError
from vitexplorer.finetune.data import (
    DataError,
    Dataset,
    Item,
    Pick,
    PictureCache,
    Pictures,
    example_folder,
    folder_columns,
    inspect,
    read_class_folders,
    read_data,
    read_folder,
    read_table,
    read_zip,
    split,
    table_columns,
)
from vitexplorer.finetune.data.cells import read_cells
from vitexplorer.finetune.data.duplicates import difference_hash, near_groups, together
from vitexplorer.finetune.data.fresh_folder import fresh_folder
from vitexplorer.models.images import ImageError, open_image, open_shrunk
from vitexplorer.scenes import draw_scene
from vitexplorer.scenes.shapes import LABEL_NAMES
from vitexplorer.storage.findings import readable_name


@pytest.fixture
def limit(monkeypatch) -> Callable[..., None]:
    """Sets settings for one test: `limit(data_files=3)`."""

    def limit(**values: float) -> None:
        for name, value in values.items():
            monkeypatch.setenv(f"VIT_{name.upper()}", str(value))
        settings.cache_clear()

    yield limit
    monkeypatch.undo()
    settings.cache_clear()


def picture(seed: int, width: int = 80, height: int = 72) -> Image.Image:
    """A few soft blots; different seeds look different."""
    cells = np.random.default_rng(seed).integers(0, 256, (5, 5, 3), dtype=np.uint8)
    return Image.fromarray(cells).resize((width, height), Image.Resampling.BICUBIC)


def encoded(image: Image.Image, kind: str = "png", **options) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def small(seed: int) -> bytes:
    return encoded(picture(seed))


def fill(root: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return root


def zipped(path: Path, files: dict[str, bytes] | list[tuple[str | zipfile.ZipInfo, bytes]]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items() if isinstance(files, dict) else files:
            archive.writestr(name, data)
    return path


def pets(count: int = 3) -> dict[str, bytes]:
    return {f"{kind}/{i}.png": small(100 * k + i) for k, kind in enumerate(("cats", "dogs")) for i in range(count)}


def kinds(findings) -> dict[str, tuple[str, ...]]:
    """Names by the kind of finding; every sentence is whole in both languages."""
    for found in findings:
        for sentence in found.text:
            assert sentence
            assert "{" not in sentence
            assert "\n" not in sentence
            assert len(sentence) < 700
    return {found.kind: found.names for found in findings}


def refused(read: Callable, *arguments, **options) -> str:
    """The English sentence of a refusal, which has a Chinese half."""
    with pytest.raises(DataError) as caught:
        read(*arguments, **options)
    assert caught.value.text.zh != caught.value.text.en
    assert "{" not in "".join(caught.value.text)
    return str(caught.value)


def left_behind(folder: Path, *known: str) -> list[str]:
    return sorted(set(os.listdir(folder)) - set(known))


# ------------------------------------------------------------------------------------------------- class folders


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
    found = kinds(read_folder(fill(tmp_path, files)).findings)
    assert found == {
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
    said = refused(read_folder, place)
    assert str(tmp_path) not in said  # the folder of an upload is nobody's business


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


# ------------------------------------------------------------------------------------------------- tables


def table(root: Path, rows: list[str], name: str = "train.csv", encoding: str = "utf-8") -> Path:
    (root / name).write_bytes("\n".join(rows).encode(encoding))
    return root / name


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
    found = kinds(dataset.findings)
    assert found["table_chosen"] == ("train.csv",)
    assert len(found["unlisted"]) == 3
    picked = read_folder(tmp_path, Pick(target="Eyes"))
    assert (picked.task, picked.classes) == ("classification", ("1",))
    columns = folder_columns(tmp_path)
    assert [(c.name, c.found, c.distinct) for c in columns.columns][::4] == [("Id", 1.0, 60), ("Pawpularity", 0.0, 60)]
    assert columns.columns[-1].numeric == 1.0
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


def test_every_bad_row_is_named_and_the_others_are_kept(tmp_path):
    fill(
        tmp_path, {f"train/{i}.png": small(i) for i in range(10)} | {"other/9.png": small(30), "other/8.png": small(31)}
    )
    rows = ["0,1.5", "1,2.5", "2,nan", "3,", "4,inf", "5,high", "6,3.5", "6,3.5", "7,1", "7,2", "gone,4", "8,4", "9"]
    path = table(tmp_path, ["image,score", *rows], "scores.csv")
    dataset = read_table(path, pick=Pick(task="regression"))
    assert [tuple(item) for item in dataset.items] == [("train/0.png", 1.5), ("train/1.png", 2.5), ("train/6.png", 3.5)]
    found = kinds(dataset.findings)
    assert found["missing_files"] == ("gone",)
    assert found["ambiguous_files"] == ("8", "9")
    assert found["no_target"] == tuple(f"train/{i}.png" for i in (2, 3, 4, 5))
    assert found["duplicate_rows"] == ("train/6.png",)
    assert found["contradicting_rows"] == ("train/7.png",)


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
    assert read_class_folders(tmp_path).classes == ("cats", "dogs")


# ------------------------------------------------------------------------------------------------- zips


def test_a_zip_is_the_folder_it_was_made_of(tmp_path):
    path, seen = zipped(tmp_path / "pets.zip", pets()), []
    dataset = read_zip(path, tmp_path / "in", progress=lambda done, of: seen.append((done, of)))
    assert dataset == read_folder(tmp_path / "in")
    assert dataset.digest == read_folder(fill(tmp_path / "plain", pets())).digest
    assert seen == [(i, 6) for i in range(6)]
    assert left_behind(tmp_path, "pets.zip", "in", "plain") == []
    assert read_data(path, tmp_path / "in") == dataset  # it is there: nothing is unpacked again
    assert "holds something" in refused(read_zip, path, tmp_path / "in")


def test_one_door_for_all(tmp_path):
    fill(tmp_path / "a", pets())
    path = table(tmp_path / "a", ["f,y", *(f"{name},{len(name)}" for name in pets())])
    assert read_data(tmp_path / "a", tmp_path / "b") == read_folder(tmp_path / "a")
    assert read_data(path, tmp_path / "b") == read_table(path)
    packed = zipped(tmp_path / "a.zip", pets())
    assert len(read_data(packed, tmp_path / "b")) == 6


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


def test_a_table_in_a_zip_is_used(tmp_path):
    files = {"w/images/a.png": small(1), "w/images/b.png": small(2), "w/t.csv": b"image,y\na,0.5\nb,1.5\n"}
    dataset = read_zip(zipped(tmp_path / "t.zip", files), tmp_path / "in")
    assert dataset.targets.tolist() == [0.5, 1.5]


OUTSIDE = ["../evil.png", "cats/../../evil.png", "/tmp/evil.png", "C:\\evil.png", "..\\evil.png", "\\\\host\\evil.png"]


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_zip_that_leads_out_of_its_folder_is_refused_whole(tmp_path, name):
    path = zipped(tmp_path / "a.zip", [*pets().items(), (name, small(1))])
    assert "leads out" in refused(read_zip, path, tmp_path / "deep" / "in")
    assert left_behind(tmp_path, "a.zip", "deep") == []
    assert not (tmp_path / "deep").exists() or left_behind(tmp_path / "deep") == []


def test_links_nested_archives_and_other_files_stay_in_the_zip(tmp_path):
    link = zipfile.ZipInfo("cats/link.png")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    link.create_system = 3
    inner = zipped(tmp_path / "inner.zip", pets()).read_bytes()
    files = [*pets().items(), (link, b"/etc/passwd"), ("inner.zip", inner), ("run.exe", b"MZ"), ("__MACOSX/._a", b"x")]
    dataset = read_zip(zipped(tmp_path / "a.zip", files), tmp_path / "in")
    assert kinds(dataset.findings) == {
        "left_out_link": ("cats/link.png",),
        "left_out_archive": ("inner.zip",),
        "left_out_other": ("run.exe",),
    }
    assert sorted(p.name for p in (tmp_path / "in").iterdir()) == ["cats", "dogs"]


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path, limit):
    path = zipped(tmp_path / "a.zip", {**pets(), "cats/big.bmp": bytes(60_000_000)})
    assert "times its size" in refused(read_zip, path, tmp_path / "in")
    limit(zip_ratio=1e6, data_megabytes=50)
    assert "VIT_DATA_MEGABYTES" in refused(read_zip, path, tmp_path / "in")
    limit(data_megabytes=4096, data_files=6)
    assert "VIT_DATA_FILES" in refused(read_zip, path, tmp_path / "in")
    assert left_behind(tmp_path, "a.zip") == []


def test_a_zip_that_lies_about_its_sizes_gives_no_more_than_it_stated(tmp_path):
    path = zipped(tmp_path / "a.zip", {**pets(), "cats/big.png": bytes(5_000_000)})
    data = path.read_bytes()
    lie = data.replace(struct.pack("<I", 5_000_000), struct.pack("<I", 500))
    assert data != lie
    path.write_bytes(lie)
    dataset = read_zip(path, tmp_path / "in")
    assert kinds(dataset.findings) == {"damaged_in_zip": ("cats/big.png",)}
    assert len(dataset) == 6
    assert not (tmp_path / "in/cats/big.png").exists()


def test_an_endless_directory_is_not_read(tmp_path, limit, monkeypatch):
    monkeypatch.setattr(import_module("vitexplorer.finetune.data.entries"), "_LEAST_PIECE", 1000)
    limit(data_files=10)
    names = {f"cats/{'x' * 90}{i}.png": b"" for i in range(50)}
    assert "more than 10 files" in refused(read_zip, zipped(tmp_path / "a.zip", names), tmp_path / "in")


@pytest.mark.parametrize("what", ["long name", "long path", "deep", "password", "packing", "no zip", "cut off", "gone"])
def test_a_zip_that_cannot_be_used_is_refused(tmp_path, what):
    names = {
        "long name": "x" * 250 + ".png",
        "long path": "/".join(["x" * 200] * 6) + "/a.png",
        "deep": "a/" * 30 + "a.png",
    }
    path = zipped(tmp_path / "a.zip", {**pets(), names.get(what, "cats/7.png"): small(7)})
    data = bytearray(path.read_bytes())
    if what == "password":
        for mark, place in ((b"PK\1\2", 8), (b"PK\3\4", 6)):
            data[data.index(mark) + place] |= 1
    if what == "packing":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
            archive.writestr("cats/a.png", small(1))
        data = bytearray(path.read_bytes())
    path.write_bytes({"no zip": b"Rar!\x1a\x07\0 and more", "cut off": data[: len(data) // 2]}.get(what, data))
    if what == "gone":
        path.unlink()
    refused(read_zip, path, tmp_path / "in")
    assert left_behind(tmp_path, "a.zip") == []


@pytest.mark.parametrize("where", range(0, 100, 10))
def test_any_damage_to_a_zip_gives_a_dataset_or_a_sentence(tmp_path, where):
    random = np.random.default_rng(where)
    data = bytearray(zipped(tmp_path / "a.zip", pets()).read_bytes())
    for n in range(10):
        spoilt = bytearray(data)
        for at in random.integers(len(data) // 2 if n % 2 else 0, len(data), 3):
            spoilt[at] = random.integers(0, 256)
        (tmp_path / "a.zip").write_bytes(spoilt)
        with suppress(DataError):
            read_zip(tmp_path / "a.zip", tmp_path / "in")
        shutil.rmtree(tmp_path / "in", ignore_errors=True)
        assert left_behind(tmp_path, "a.zip") == []


def unflagged(path: Path, names: dict[bytes, bytes]) -> Path:
    """A zip whose names are these bytes, as programs write them that know no UTF-8 flag."""
    with zipfile.ZipFile(path, "w") as archive:
        for i, data in enumerate(names.values()):
            archive.writestr(chr(ord("A") + i) * len(list(names)[i]), data)
    packed = path.read_bytes()
    for i, name in enumerate(names):
        packed = packed.replace(bytes([ord("A") + i]) * len(name), name)
    path.write_bytes(packed)
    return path


@pytest.mark.parametrize(
    ("encoding", "names"),
    [
        ("gbk", ("猫咪/照片一.png", "狗/照片二.png")),
        ("gbk", ("丂/一个镕.png", "数据/图像集合二.png")),  # beside GB 2312, and a second byte 0x5C is no backslash
        ("utf-8", ("кошка/й.png", "犬/一.png")),
        ("cp437", ("café/für.png", "Müller/ñandú.png")),
    ],
)
def test_names_of_other_systems_are_read_right(tmp_path, encoding, names):
    files = {name.encode(encoding): small(i) for i, name in enumerate(names)}
    dataset = read_zip(unflagged(tmp_path / "a.zip", files), tmp_path / "in")
    assert sorted(item.path for item in dataset.items) == sorted(names)
    assert not inspect(dataset).unreadable


def test_entries_of_one_name_are_both_kept_and_a_path_cannot_be_file_and_folder(tmp_path):
    files = [*pets().items(), ("CATS/0.PNG", small(50)), ("cats/0.png/a.png", small(51))]
    dataset = read_zip(zipped(tmp_path / "a.zip", files), tmp_path / "in")
    assert len(dataset) == 7
    assert kinds(dataset.findings)["damaged_in_zip"] == ("cats/0.png/a.png",)


def test_thousands_of_entries_of_one_name_get_a_path_each(tmp_path):
    from vitexplorer.finetune.data.entries import _distinct

    entries = _distinct([(zipfile.ZipInfo("a.png"), ("a.png",))] * 5_000)
    assert len({entry.path for entry in entries}) == 5_000


# ------------------------------------------------------------------------------------------------- full disks


def test_a_disk_that_is_too_small_is_said_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**9, 10**9 - 10, 10))
    assert "nothing was written" in refused(read_zip, zipped(tmp_path / "a.zip", pets()), tmp_path / "in")
    assert left_behind(tmp_path, "a.zip") == []


@pytest.mark.parametrize("job", ["zip", "example"])
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT, errno.EROFS])
def test_a_disk_that_fills_up_leaves_nothing_half_written(tmp_path, monkeypatch, job, error):
    path, written, really = zipped(tmp_path / "a.zip", pets()), [], io.open

    def full(file, mode="r", *arguments, **options):
        if any(letter in mode for letter in "wx") and str(file).endswith(("png", "jpg")):
            written.append(file)
            if len(written) == 4:
                raise OSError(error, os.strerror(error))
        return really(file, mode, *arguments, **options)

    monkeypatch.setattr(io, "open", full)
    monkeypatch.setattr("builtins.open", full)
    work = (read_zip, path, tmp_path / "in") if job == "zip" else (example_folder, tmp_path / "in", 1, 32)
    assert "half-written" in refused(*work)
    assert len(written) == 4
    assert left_behind(tmp_path, "a.zip") == []
    monkeypatch.undo()
    assert len(read_zip(path, tmp_path / "in")) == 6  # once there is room again


def test_stopping_leaves_nothing_behind(tmp_path):
    def stop(done: int, of: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_zip(zipped(tmp_path / "a.zip", pets()), tmp_path / "in", progress=stop)
    assert left_behind(tmp_path, "a.zip") == []
    with pytest.raises(KeyboardInterrupt):
        inspect(read_folder(fill(tmp_path / "pets", pets())), progress=stop)


def test_a_folder_that_is_a_link_or_a_file_is_not_written_through(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    fill(tmp_path, {"file": b"x"})
    for taken in ("link", "file"):
        with pytest.raises(DataError, match="holds something"), fresh_folder(tmp_path / taken):
            pass
    assert left_behind(tmp_path / "elsewhere") == []
    with pytest.raises(DataError, match="cannot be written"), fresh_folder(tmp_path / "file" / "in"):
        pass


# ------------------------------------------------------------------------------------------------- the report


def test_the_report_of_good_images(tmp_path):
    report = inspect(read_folder(fill(tmp_path, pets(12))))
    assert report.findings == ()
    assert report.can_train
    assert report.counts == (("cats", 12), ("dogs", 12))
    assert report.sizes.tolist() == [[80, 72]] * 24
    assert report.dataset.groups == tuple(range(24))


def test_what_cannot_be_read_is_named_with_its_reason_and_nothing_is_lost(tmp_path):
    bad = {
        "cats/empty.png": b"",
        "cats/text.jpg": b"not a picture",
        "cats/cut.jpg": encoded(picture(7), "jpeg")[:400],
        "cats/phone.heic": b"\0\0\0\x18ftypheic\0\0\0\0",
        "cats/dot.png": encoded(picture(8, 4, 4)),
    }
    odd = {"dogs/jpeg.png": encoded(picture(60), "jpeg"), "dogs/no ending": small(61), "dogs/scan.dat": small(62)}
    fill(tmp_path, {**pets(), **bad, **odd})
    report = inspect(read_folder(tmp_path))
    assert {path for path, _ in report.unreadable} == set(bad)
    reasons = {path: reason.en for path, reason in report.unreadable}
    for path, word in zip(sorted(bad), ("damaged", "at least 8", "0 bytes", "HEIC", "not a picture"), strict=True):
        assert word in reasons[path]
    assert kinds(report.findings)["unreadable"] == tuple(sorted(bad))
    assert {item.path for item in report.dataset.items} == {*pets(), *odd}
    assert all((tmp_path / path).read_bytes() == data for path, data in bad.items())


def test_sizes_that_are_out_of_the_ordinary(tmp_path):
    fill(tmp_path, {**pets(), "cats/tiny.png": encoded(picture(70, 200, 40))})
    fill(tmp_path, {"dogs/huge.jpg": encoded(Image.new("RGB", (5000, 4100), (9, 99, 200)), "jpeg")})
    found = kinds(inspect(read_folder(tmp_path)).findings)
    assert found["tiny"] == ("cats/tiny.png",)
    assert found["huge"] == ("dogs/huge.jpg",)


def test_an_image_over_the_limit_is_refused_with_its_size(tmp_path, limit):
    limit(max_megapixels=0.01)
    fill(tmp_path, {**pets(), "dogs/huge.png": encoded(picture(70, 200, 140))})
    ((path, reason),) = inspect(read_folder(tmp_path)).unreadable
    assert (path, "200 x 140" in reason.en) == ("dogs/huge.png", True)


def test_copies_are_grouped_and_contradictions_named(tmp_path):
    scene = Image.fromarray(draw_scene("examples", 3, 192).image)
    fill(
        tmp_path,
        {
            **pets(10),
            "cats/scene.png": encoded(scene),
            "cats/again.jpg": encoded(scene, "jpeg", quality=60),
            "cats/less.jpg": encoded(scene.resize((120, 120)), "jpeg", quality=90),
            "dogs/copy of 0.png": small(100),
            "dogs/cat.png": small(1),
        },
    )
    report = inspect(read_folder(tmp_path))
    assert set(map(frozenset, report.exact)) == {
        frozenset({"dogs/0.png", "dogs/copy of 0.png"}),
        frozenset({"cats/1.png", "dogs/cat.png"}),
    }
    assert frozenset({"cats/scene.png", "cats/again.jpg", "cats/less.jpg"}) in set(map(frozenset, report.near))
    assert len(report.near) == 3
    found = kinds(report.findings)
    assert found["conflicting_labels"] == ("cats/1.png", "dogs/cat.png")
    assert found["near_duplicates"] == ("cats/again.jpg", "cats/less.jpg", "cats/scene.png")
    assert report.can_train
    for seed in range(20):
        sides = split(report.dataset, seed)
        train = {report.dataset.items[i].path for i in sides.train}
        assert all(len(train & set(group)) in (0, len(group)) for group in report.near)


def test_camera_data_makes_no_other_image_but_turning_does(tmp_path):
    plain = picture(1)
    turned = Image.Exif()
    turned[274] = 6
    note = Image.Exif()
    note[270] = "holiday"
    files = {f"a/{n}.jpg": encoded(plain, "jpeg", **o) for n, o in enumerate(({}, {"exif": note}, {"exif": turned}))}
    report = inspect(read_folder(fill(tmp_path, {**files, "b/1.png": small(2)})))
    assert report.exact == (("a/0.jpg", "a/1.jpg"),)
    assert report.sizes.tolist() == [[80, 72], [80, 72], [72, 80], [80, 72]]


def test_flat_pictures_are_duplicates_only_where_they_are_equal(tmp_path):
    files = {f"a/{i}.png": encoded(Image.new("RGB", (64, 64), (i, i, i))) for i in (0, 9, 200)}
    report = inspect(read_folder(fill(tmp_path, {**files, "b/1.png": small(2)})))
    assert report.exact == report.near == ()


@pytest.mark.parametrize(
    ("files", "kind", "stops"),
    [
        ({f"cats/{i}.png": small(i) for i in range(3)} | {"cats/more/3.png": small(3)}, "one_class", True),
        ({f"{i}/{i}.png": small(i) for i in range(5)}, "one_each", True),
        ({"a/0.png": b"", "b/0.png": b""}, "nothing", True),
        ({**pets(12), "birds/0.png": small(300)}, "single_images", False),
        ({**pets(12), "birds/0.png": b"x"}, "gone_classes", False),
        (pets(9), "few_images", False),
        ({f"cats/{i}.png": small(i) for i in range(100)} | pets(10), "imbalance", False),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_too_little_of_something(tmp_path, files, kind, stops):
    fill(tmp_path, files)
    report = inspect(read_folder(tmp_path))
    assert kind in kinds(report.findings)
    assert report.can_train is not stops
    assert report.findings[0].level == ("stops" if stops else "warning")
    if kind == "nothing":
        assert len(report.dataset) == 0


def test_a_number_that_never_changes_stops_and_few_numbers_warn(tmp_path):
    fill(tmp_path, {f"{i}.png": small(i) for i in range(4)})
    constant = read_table(table(tmp_path, ["f,y", *(f"{i},2.5" for i in range(4))]))
    assert not inspect(constant).can_train
    report = inspect(read_table(table(tmp_path, ["f,y", *(f"{i},{i}.5" for i in range(4))])))
    assert (report.can_train, report.counts, set(kinds(report.findings))) == (True, (), {"few_images"})


# ------------------------------------------------------------------------------------------------- duplicates, by twins


def test_near_groups_are_what_comparing_all_pairs_finds():
    random = np.random.default_rng(0)
    bits = np.repeat(random.integers(0, 2, (60, 128)), 5, 0)
    for row in bits:
        row[random.integers(0, 128, random.integers(0, 9))] ^= 1
    random.shuffle(bits)
    hashes = [b"" if i % 17 == 0 else np.packbits(row.astype(np.uint8)).tobytes() for i, row in enumerate(bits)]
    near = [
        (i, j)
        for i in range(len(bits))
        for j in range(i)
        if hashes[i] and hashes[j] and int((bits[i] != bits[j]).sum()) <= 8
    ]
    twin = [group for group in together(len(bits), near) if len(group) > 1]
    assert list(near_groups(hashes)) == twin
    assert len(twin) > 20
    assert [len(group) for group in near_groups([bytes(15) + bytes([i % 2]) for i in range(3000)])] == [3000]
    assert near_groups([]) == near_groups([b"", b""]) == ()


def test_the_difference_hash_by_hand():
    ramp = np.broadcast_to(np.arange(90, dtype=np.uint8)[None, :, None] * 2, (80, 90, 3))
    assert difference_hash(np.ascontiguousarray(ramp)) == b"\xff" * 8 + b"\0" * 8
    assert difference_hash(np.ascontiguousarray(ramp.transpose(1, 0, 2))) == b"\0" * 8 + b"\xff" * 8
    assert difference_hash(np.full((9, 9, 3), 7, np.uint8)) == b""


# ------------------------------------------------------------------------------------------------- splits


def random_dataset(seed: int) -> Dataset:
    """Classes or numbers, groups of one to four, in random order."""
    random = np.random.default_rng(seed)
    count, classes = int(random.integers(4, 120)), int(random.integers(1, 9))
    if seed % 2:
        items = tuple(Item(f"{i}.png", int(random.integers(classes))) for i in range(count))
        names = tuple(map(str, range(classes)))
    else:
        items, names = tuple(Item(f"{i}.png", float(random.normal())) for i in range(count)), ()
    groups = tuple(int(g) for g in random.integers(0, count, count)) if random.random() < 0.7 else None
    return Dataset(Path(), items, "classification" if seed % 2 else "regression", names, groups=groups)


@pytest.mark.parametrize("seed", range(40))
def test_a_split_holds_what_it_promises(seed):
    dataset, share = random_dataset(seed), (0.1, 0.2, 0.5)[seed % 3]
    sides = split(dataset, seed, share)
    assert sorted(sides.train + sides.validation) == list(range(len(dataset)))
    assert sides == split(dataset, seed, share)
    assert min(len(sides.train), len(sides.validation)) > 0
    groups = dataset.groups or range(len(dataset))
    assert not {groups[i] for i in sides.train} & {groups[i] for i in sides.validation}
    if dataset.groups is None and dataset.classes:
        held = np.bincount(dataset.targets[list(sides.validation)], minlength=len(dataset.classes))
        for all_of_class, held_of_class in zip(dataset.counts, held, strict=True):
            wanted = min(max(round(share * all_of_class), 1), all_of_class - 1) if all_of_class else 0
            assert held_of_class == wanted


def test_a_split_follows_its_seed_and_its_names_not_their_order():
    dataset = random_dataset(1)
    assert len({split(dataset, seed).validation for seed in range(5)}) == 5
    order = np.random.default_rng(0).permutation(len(dataset)).tolist()
    names = {dataset.items[i].path for i in split(dataset, 3).validation}
    shuffled = dataset.only(order)
    if dataset.groups is None:
        assert {shuffled.items[i].path for i in split(shuffled, 3).validation} == names
    assert len({shuffled.digest, dataset.digest}) == 2


def test_the_numbers_of_a_regression_are_alike_on_both_sides():
    numbers = np.random.default_rng(0).gamma(1.0, 20.0, 1000)
    dataset = Dataset(Path(), tuple(Item(f"{i}.png", float(n)) for i, n in enumerate(numbers)), "regression")
    for seed in range(10):
        held = dataset.targets[list(split(dataset, seed).validation)]
        assert len(held) == 200
        assert np.abs(np.quantile(held, [0.1, 0.3, 0.5, 0.7, 0.9]) / np.quantile(numbers, [0.1, 0.3, 0.5, 0.7, 0.9]) - 1).max() < 0.25  # fmt: skip  # noqa: E501


@pytest.mark.parametrize("share", [0, 1, -0.1, 20])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(SettingError, match=str(share)):
        split(random_dataset(1), 0, share)


def test_images_that_are_all_one_group_cannot_be_split():
    items = tuple(Item(f"{i}.png", i % 2) for i in range(6))
    refused(split, Dataset(Path(), items, "classification", ("a", "b"), groups=(0,) * 6))
    refused(split, Dataset(Path(), (Item("a.png", 0), Item("b.png", 1)), "classification", ("a", "b")))


# ------------------------------------------------------------------------------------------------- pixels


@pytest.mark.parametrize("kind", ["jpeg", "png", "webp"])
def test_shrinking_while_decoding_gives_the_same_picture(tmp_path, kind):
    path = tmp_path / f"a.{kind}"
    picture(1, 1203, 902).save(path, kind, quality=95)
    shrunk = open_shrunk(path, 100)
    assert (shrunk.width, shrunk.height, shrunk.pixels.shape) == (1203, 902, (100, 133, 3))
    whole = Image.fromarray(open_image(path)).resize((133, 100), Image.Resampling.BICUBIC)
    assert np.abs(shrunk.pixels.astype(int) - np.asarray(whole)).max() <= 6
    assert np.array_equal(open_shrunk(path, 5000).pixels, open_image(path))


def test_a_jpeg_is_shrunk_before_it_is_decoded(tmp_path, monkeypatch):
    picture(1, 1600, 1200).save(tmp_path / "a.jpg")
    sizes, really = [], Image.Image.resize

    def resize(self, size, *arguments, **options):
        sizes.append(self.size)
        return really(self, size, *arguments, **options)

    monkeypatch.setattr(Image.Image, "resize", resize)
    open_shrunk(tmp_path / "a.jpg", 140)
    assert sizes == [(200, 150)]


def test_pictures_come_in_order_upright_and_shrunk(tmp_path):
    turned = Image.Exif()
    turned[274] = 6
    fill(tmp_path, {**pets(2), "cats/turned.jpg": encoded(picture(9, 300, 200), "jpeg", exif=turned)})
    dataset = read_folder(tmp_path)
    pictures = Pictures(dataset, short_side=60)
    assert [target for _, target in (pictures[i] for i in range(len(pictures)))] == [0, 0, 0, 1, 1]
    assert [pixels.shape for pixels, _ in (pictures[i] for i in range(3))] == [(60, 67, 3), (60, 67, 3), (90, 60, 3)]
    some = Pictures(dataset, (4, 0), short_side=60, transform=lambda pixels: pixels.mean())
    assert [some[0], some[1]] == [(pictures[4][0].mean(), 1), (pictures[0][0].mean(), 0)]
    dataset.path(0).unlink()
    with pytest.raises(ImageError, match="no file"):
        pictures[0]


def test_pictures_are_what_a_data_loader_takes(tmp_path):
    from torch.utils.data import DataLoader

    dataset = read_folder(fill(tmp_path, pets(2)))
    ((pixels, targets),) = DataLoader(Pictures(dataset, short_side=72), batch_size=4)
    assert tuple(pixels.shape) == (4, 72, 80, 3)
    assert targets.tolist() == [0, 0, 1, 1]
    numbers = Dataset(dataset.root, tuple(Item(i.path, 0.5) for i in dataset.items), "regression")
    ((_, targets),) = DataLoader(Pictures(numbers, short_side=72), batch_size=4)
    assert targets.tolist() == [0.5] * 4


def test_the_cache_gives_the_same_pixels_without_decoding_until_the_file_changes(tmp_path, monkeypatch):
    dataset = read_folder(fill(tmp_path / "pets", pets(2)))
    plain = [Pictures(dataset, short_side=40)[i][0] for i in range(4)]
    pictures = Pictures(dataset, short_side=40, cache=PictureCache(tmp_path / "cache", 10))
    assert all(np.array_equal(pictures[i][0], plain[i]) for i in range(4))
    monkeypatch.setattr(import_module("vitexplorer.finetune.data.pictures"), "open_shrunk", None)
    assert all(np.array_equal(pictures[i][0], plain[i]) for i in range(4))
    monkeypatch.undo()
    dataset.path(0).write_bytes(small(99) + b"\0")
    assert not np.array_equal(pictures[0][0], plain[0])
    assert Pictures(dataset, short_side=30, cache=PictureCache(tmp_path / "cache", 10))[1][0].shape[0] == 30


def test_the_cache_is_bounded_and_counts_what_others_wrote(tmp_path):
    source = fill(tmp_path, {f"{i}.png": small(i) for i in range(6)})
    big = np.zeros((500, 500, 3), np.uint8)  # 0.75 MB
    for _ in range(2):
        cache = PictureCache(tmp_path / "cache", 2)
        for i in range(6):
            assert cache.get(source / f"{i}.png", 500, lambda: big) is big or i < 2
    assert len(os.listdir(tmp_path / "cache")) == 2
    PictureCache(tmp_path / "none", 0).get(source / "1.png", 500, lambda: big)
    assert not (tmp_path / "none").exists()


def test_a_cache_on_a_full_disk_costs_time_only(tmp_path, monkeypatch):
    source = fill(tmp_path, {"a.png": small(1)}) / "a.png"
    pixels = np.ones((9, 8, 3), np.uint8)

    def full(*arguments):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "replace", full)
    cache = PictureCache(tmp_path / "cache", 10)
    assert np.array_equal(cache.get(source, 9, lambda: pixels), pixels)
    assert os.listdir(tmp_path / "cache") == []
    monkeypatch.undo()
    assert np.array_equal(cache.get(source, 9, lambda: pixels), pixels)
    (kept,) = (tmp_path / "cache").iterdir()
    kept.write_bytes(kept.read_bytes()[:50])  # the power failed
    assert np.array_equal(cache.get(source, 9, lambda: pixels), pixels)
    (tmp_path / "file").write_bytes(b"")
    assert np.array_equal(PictureCache(tmp_path / "file", 10).get(source, 9, lambda: pixels), pixels)


# ------------------------------------------------------------------------------------------------- examples


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
