"""Unpack a zip of images into a new folder: only images and tables, whole or not at all."""

from __future__ import annotations

import os
import shutil
import zipfile
import zlib
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path, PurePosixPath

from vitexplorer.core.text import Progress, Text
from vitexplorer.finetune.data.columns import ANYTHING, Pick
from vitexplorer.finetune.data.entries import Entry, checked_entries, open_zip
from vitexplorer.finetune.data.folder import read_folder
from vitexplorer.finetune.data.fresh_folder import fresh_folder
from vitexplorer.storage.dataset import Dataset
from vitexplorer.storage.findings import DataError, Finding, findings_of, listed, readable_name
from vitexplorer.storage.image_files import START_BYTES, is_image_name, is_table_name, list_files, looks_like_an_image

_CHUNK = 2**20


def read_zip(
    path: str | os.PathLike, into: str | os.PathLike, pick: Pick = ANYTHING, *, progress: Progress | None = None
) -> Dataset:
    """Unpack a zip to `into`, which is new or empty, and read it with `read_folder`.

    After an error nothing of the zip is left on the disk.

    Raises:
        DataError: the zip is damaged, protected, larger than the settings allow or has paths that leave its folder;
            the disk is full; or `read_folder` finds nothing to learn from.
        UnknownNameError: a column in `pick` does not exist.
    """
    findings = unpack_zip(path, into, check=lambda folder: read_folder(folder, pick), progress=progress)
    dataset = read_folder(into, pick)
    return replace(dataset, findings=(*findings, *dataset.findings))


def unpack_zip(
    path: str | os.PathLike,
    into: str | os.PathLike,
    *,
    check: Callable[[Path], object] = list_files,
    progress: Progress | None = None,
) -> list[Finding]:
    """Unpack the images and tables of a zip to `into`, which is new or empty; `check` may refuse the result.

    Raises DataError like `read_zip`, and the errors of `check`; then nothing of the zip is left on the disk.
    """
    path, into = Path(path), Path(into).expanduser().absolute()
    try:
        with path.open("rb") as file, open_zip(file, path.name) as archive:
            entries, findings = checked_entries(archive, os.fstat(file.fileno()).st_size)
            needed = sum(entry.info.file_size for entry in entries)
            with fresh_folder(into, needed) as folder:
                findings += _unpack(archive, entries, folder, progress)
                check(folder)  # before the folder gets its final name
    except OSError:  # from the zip itself; `fresh_folder` already explains its own errors
        raise DataError(_UNREADABLE.format(name=listed([readable_name(path.name)]))) from None
    return findings


def unpack_only(path: str | os.PathLike, names: Collection[str], into: Path) -> None:
    """Unpack the files with these names, from any folder of the zip, to `into`.

    Raises DataError for a zip that is damaged, protected, too large or has paths that leave its folder.
    """
    path = Path(path)
    try:
        with path.open("rb") as file, open_zip(file, path.name) as archive:
            entries, _ = checked_entries(archive, os.fstat(file.fileno()).st_size)
            for entry in entries:
                name = PurePosixPath(entry.path).name
                if name in names:
                    with archive.open(entry.info) as packed, (into / name).open("wb") as unpacked:
                        shutil.copyfileobj(packed, unpacked)
    except DataError:
        raise
    except (OSError, *_DAMAGES):
        raise DataError(_UNREADABLE.format(name=listed([readable_name(path.name)]))) from None


_DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError)
"""Exceptions that a damaged packed file causes"""
_UNREADABLE = Text("{name} cannot be read. Send it again.", "无法读取 {name}。请重新上传。")
_DAMAGED = Text(
    "Damaged files in the zip are left out: {count} ({names}). Pack them again.",
    "压缩包中损坏的文件已忽略：{count} 个（{names}）。请重新打包。",
)
_OTHER = Text(
    "Files in the zip that are no images are left out: {count} ({names}).",
    "压缩包中的非图像文件已忽略：{count} 个（{names}）。",
)


def _unpack(archive: zipfile.ZipFile, entries: list[Entry], folder: Path, progress: Progress | None) -> list[Finding]:
    damaged, other = [], []
    for done, entry in enumerate(entries):
        if progress is not None:
            progress(done, len(entries))
        try:
            if not _unpack_one(archive, entry, folder / entry.path):
                other.append(entry.path)
        except _DAMAGES:
            (folder / entry.path).unlink(missing_ok=True)
            damaged.append(entry.path)
        except (FileExistsError, NotADirectoryError):  # the same path is a file and a folder
            damaged.append(entry.path)
    return findings_of([("damaged_in_zip", "warning", _DAMAGED, damaged), ("left_out_other", "note", _OTHER, other)])


def _unpack_one(archive: zipfile.ZipFile, entry: Entry, path: Path) -> bool:
    """Write the entry if it is an image or a table; return False if it is not."""
    with archive.open(entry.info) as packed:
        chunk = packed.read(_CHUNK)
        has_known_name = is_image_name(entry.path) or is_table_name(entry.path)
        if not has_known_name and not looks_like_an_image(chunk[:START_BYTES]):
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            while chunk:
                file.write(chunk)
                chunk = packed.read(_CHUNK)
    return True
