"""Folders of weights packed as a zip, unpacked to a temporary folder while they are read.

Zips are untrusted. Only the last part of each path is used: the weight and JSON files of the one folder that holds
weights are written side by side into a temporary folder. Paths that lead out of the zip, too many or too large files,
zip bombs and encrypted files are refused before a byte is written.
"""

from __future__ import annotations

import re
import shutil
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from vitexplorer.core.settings import PREFIX, settings
from vitexplorer.core.text import Progress, Text
from vitexplorer.models.checkpoints.files import SUFFIXES, WeightsError, unreadable
from vitexplorer.storage.bounded_zips import ByteLimitError, open_bounded

ZIP = ".zip"
MOST_FILES = 1000
"""Most files of a zip; the largest models come in some hundred shards"""
_CHUNK = 1 << 22
"""Most bytes that are read at once, of the directory too"""
_HARMLESS_BYTES = 1 << 24
"""Unpacked bytes up to which a zip is no bomb, however small it is"""
_NAME = re.compile(r"[\w+=@()-][\w.+=@() -]{0,150}")
_DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, struct.error, RuntimeError)
"""Errors that `zipfile` raises for a damaged file"""

_MANY = Text(
    "{zip} contains more than {most} files. Pack only the folder of one model.",
    "{zip} 中的文件超过 {most} 个。请只打包一个模型的文件夹。",
)
_OUTSIDE = Text(
    "{zip} has a path that leads out of its folder ({name}) and is refused. Pack the folder again.",
    "{zip} 中有指向文件夹之外的路径（{name}），已拒绝。请重新打包该文件夹。",
)
_ODD = Text(
    "{zip} has a file whose name cannot be kept ({name}). Rename it and pack the folder again.",
    "{zip} 中有无法使用的文件名（{name}）。请重命名后重新打包。",
)
_TWICE = Text("{zip} holds {name} twice. Pack the folder again.", "{zip} 中有两个 {name}。请重新打包该文件夹。")
_LINK = Text(
    "{zip} holds a link in place of a file ({name}). Pack the files themselves.",
    "{zip} 中的 {name} 是链接而不是文件。请打包文件本身。",
)
_ENCRYPTED = Text(
    "{zip} is protected by a password. Pack the folder without one.", "{zip} 受密码保护。请不设密码重新打包。"
)
_PACKING = Text(
    "{zip} is packed in an unusual way ({name}). Pack it again with the usual method, Deflate.",
    "{zip} 使用了不常见的压缩方式（{name}）。请使用常规方式 Deflate 重新打包。",
)
_LARGE = Text(
    "{zip} would unpack to {megabytes} MB; at most {most} MB are accepted ({variable}).",
    "{zip} 解压后为 {megabytes} MB；最多接受 {most} MB（{variable}）。",
)
_BOMB = Text(
    "{zip} would unpack to {ratio} times its size, as weights never do; it is refused.",
    "{zip} 解压后将达到自身大小的 {ratio} 倍，而权重几乎不可压缩，因此拒绝。",
)
_NO_WEIGHTS = Text(
    "{zip} holds no weights: expected a folder with one of {suffixes} in it.",
    "{zip} 中没有权重：应有一个文件夹，其中含 {suffixes} 之一。",
)
_FOLDERS = Text(
    "{zip} holds weights in several folders ({some}). Pack one of them alone.",
    "{zip} 的多个文件夹中都有权重（{some}）。请只打包其中一个。",
)
_FULL = Text(
    "The disk has no room to unpack {zip}: {megabytes} MB are needed.",
    "磁盘空间不足，无法解压 {zip}：需要 {megabytes} MB。",
)


@contextmanager
def unzipped(path: Path, progress: Progress | None = None) -> Iterator[Path]:
    """Unpack the folder of weights in a zip; it stays on the disk until the block ends.

    Raises:
        WeightsError: the file is not a plain zip of one folder of weights, or the disk is full.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        folder = Path(place) / path.stem
        folder.mkdir()
        with _open_archive(path) as archive:
            _unpack(archive, _choose_files(archive, path), folder, path, progress)
        yield folder


def weights_in(path: Path) -> tuple[str, ...]:
    """Return the names of the weight files that would be read from a zip.

    Raises:
        WeightsError: the file is not a plain zip of one folder of weights.
    """
    with _open_archive(path) as archive:
        return tuple(name for name in _choose_files(archive, path) if name.lower().endswith(SUFFIXES))


@contextmanager
def _open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with path.open("rb") as file, open_bounded(file, _CHUNK) as archive:
            yield archive
    except ByteLimitError as error:
        raise WeightsError(_MANY.format(zip=path.name, most=MOST_FILES)) from error
    except (OSError, *_DAMAGES) as error:
        if isinstance(error, WeightsError):
            raise
        raise unreadable(path) from error


def _choose_files(archive: zipfile.ZipFile, path: Path) -> dict[str, zipfile.ZipInfo]:
    """Return the files of the only folder that holds weights, by their base names."""
    entries = [entry for entry in archive.infolist() if not entry.filename.endswith("/")]
    if len(entries) > MOST_FILES:
        raise WeightsError(_MANY.format(zip=path.name, most=MOST_FILES))
    folders: dict[PurePosixPath, dict[str, zipfile.ZipInfo]] = {}
    for entry in entries:
        place = _checked_path(entry, path)
        if not place.name.lower().endswith((*SUFFIXES, ".json")) or any(
            part.startswith((".", "__MACOSX")) for part in place.parts
        ):
            continue
        _check_entry(entry, place.name, path)
        files = folders.setdefault(place.parent, {})
        if place.name in files:
            raise WeightsError(_TWICE.format(zip=path.name, name=place.name))
        files[place.name] = entry
    with_weights = {
        folder: files for folder, files in folders.items() if any(name.lower().endswith(SUFFIXES) for name in files)
    }
    if not with_weights:
        raise WeightsError(_NO_WEIGHTS.format(zip=path.name, suffixes=", ".join(SUFFIXES)))
    if len(with_weights) > 1:
        some = ", ".join(sorted(map(str, with_weights))[:3])
        raise WeightsError(_FOLDERS.format(zip=path.name, some=some))
    (chosen,) = with_weights.values()
    _check_sizes(chosen, path)
    return chosen


def _checked_path(entry: zipfile.ZipInfo, path: Path) -> PurePosixPath:
    """Return the path of an entry, which must not lead out of the zip."""
    name = entry.orig_filename
    place = PurePosixPath(name.replace("\\", "/"))
    if place.is_absolute() or ".." in place.parts or re.match("[A-Za-z]:", name):
        raise WeightsError(_OUTSIDE.format(zip=path.name, name=_printable(name)))
    return place


def _check_entry(entry: zipfile.ZipInfo, name: str, path: Path) -> None:
    names = {"zip": path.name, "name": _printable(name)}
    if not _NAME.fullmatch(name):
        raise WeightsError(_ODD.format(**names))
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
        raise WeightsError(_LINK.format(**names))
    if entry.flag_bits & 1:
        raise WeightsError(_ENCRYPTED.format(**names))
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise WeightsError(_PACKING.format(**names))


def _check_sizes(chosen: dict[str, zipfile.ZipInfo], path: Path) -> None:
    """Check the sizes in the zip's directory; `zipfile` never unpacks more of a file than is stated there."""
    unpacked = _bytes(chosen)
    packed = path.stat().st_size
    most = settings().max_upload_megabytes
    if unpacked > most * 10**6:
        variable = PREFIX + "MAX_UPLOAD_MEGABYTES"
        raise WeightsError(_LARGE.format(zip=path.name, megabytes=unpacked // 10**6, most=most, variable=variable))
    if unpacked > max(_HARMLESS_BYTES, settings().zip_ratio * packed):
        raise WeightsError(_BOMB.format(zip=path.name, ratio=unpacked // max(1, packed)))


def _unpack(
    archive: zipfile.ZipFile, chosen: dict[str, zipfile.ZipInfo], folder: Path, path: Path, progress: Progress | None
) -> None:
    needed = _bytes(chosen)
    done = 0
    full = _FULL.format(zip=path.name, megabytes=needed // 10**6 + 1)
    if needed > shutil.disk_usage(folder).free:
        raise WeightsError(full)
    for name, entry in chosen.items():
        with archive.open(entry) as packed, (folder / name).open("xb") as file:
            while chunk := packed.read(_CHUNK // 4):
                try:
                    file.write(chunk)
                except OSError as error:
                    raise WeightsError(full) from error
                done += len(chunk)
                if progress is not None:
                    progress(done, needed)


def _bytes(chosen: dict[str, zipfile.ZipInfo]) -> int:
    return sum(entry.file_size for entry in chosen.values())


def _printable(name: str) -> str:
    """Replace unprintable characters, which could reverse the direction of the surrounding text."""
    return "".join(letter if letter.isprintable() else "?" for letter in name[:60])
