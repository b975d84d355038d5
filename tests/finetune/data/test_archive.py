"""Zips of images: the dataset of the folder; hostile zips and full disks end in a sentence.

A hostile zip is first made honestly, then spoilt in one place.
"""

from __future__ import annotations

import errno
import io
import os
import shutil
import stat
import struct
import zipfile
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.image_folders import fill, kinds, left_behind, pets, refused, small, zipped
from vitexplorer.finetune.data import DataError, example_folder, inspect, read_data, read_folder, read_zip

# ------------------------------------------------------------------------------------------------- zips


def test_a_zip_is_the_folder_it_was_made_of(tmp_path):
    path, seen = zipped(tmp_path / "pets.zip", pets()), []
    dataset = read_zip(path, tmp_path / "in", progress=lambda done, of: seen.append((done, of)))
    assert dataset == read_folder(tmp_path / "in")
    assert dataset.digest == read_folder(fill(tmp_path / "plain", pets())).digest
    assert seen == [(i, 6) for i in range(6)]
    assert left_behind(tmp_path, "pets.zip", "in", "plain") == []
    assert read_data(path, tmp_path / "in") == dataset  # it is there: nothing is unpacked again
    assert "is not empty" in refused(read_zip, path, tmp_path / "in")


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
    """Make a zip with these bytes as names, as programs without the UTF-8 flag write them."""
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


def test_entries_of_one_name_both_stay_and_a_path_cannot_be_file_and_folder(tmp_path):
    files = [*pets().items(), ("CATS/0.PNG", small(50)), ("cats/0.png/a.png", small(51))]
    dataset = read_zip(zipped(tmp_path / "a.zip", files), tmp_path / "in")
    assert len(dataset) == 7
    assert kinds(dataset.findings)["damaged_in_zip"] == ("cats/0.png/a.png",)


def test_thousands_of_entries_of_one_name_get_a_path_each(tmp_path):
    from vitexplorer.finetune.data.entries import _distinct

    entries = _distinct([(zipfile.ZipInfo("a.png"), ("a.png",))] * 5_000)
    assert len({entry.path for entry in entries}) == 5_000


# ------------------------------------------------------------------------------------------------- full disks


def test_a_disk_that_is_too_small_is_reported_before_anything_is_written(tmp_path, monkeypatch):
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
