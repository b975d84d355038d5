"""A folder of weights that somebody packed as a zip: unpacked beside everything else, for as long as it is read.

A zip comes from a stranger. Of its paths nothing is believed but the last part: of the one folder in it that holds
weights, the files that such a folder has are written side by side into a folder of ours. Whatever would lead out of it,
is too much, unpacks to far more than it is, or needs a password is refused before a byte is written.
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
"""in a zip; the largest models come in some hundred shards"""
_AT_ONCE = 1 << 22
"""bytes that are read at once, of the directory too"""
_HARMLESS_BYTES = 1 << 24
"""unpacked; a zip of that size is no bomb, however small it was"""
_NAME = re.compile(r"[\w+=@()-][\w.+=@() -]{0,150}")
_DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, struct.error, RuntimeError)
"""with which a packed file that is damaged is met"""

_MANY = Text(
    "{zip} holds more than {most} files. Pack the folder of one model alone.",
    "{zip} 中的文件超过 {most} 个。请只打包一个模型的文件夹。",
)
_OUTSIDE = Text(
    "{zip} has a path that leads out of its folder ({name}) and is refused. Pack the folder anew.",
    "{zip} 中有指向文件夹之外的路径（{name}），已拒绝。请重新打包该文件夹。",
)
_ODD = Text(
    "{zip} has a file whose name cannot be kept ({name}). Rename it and pack the folder again.",
    "{zip} 中有无法使用的文件名（{name}）。请重命名后重新打包。",
)
_TWICE = Text("{zip} holds {name} twice. Pack the folder anew.", "{zip} 中有两个 {name}。请重新打包该文件夹。")
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
    "{zip} 中没有权重：应是含有 {suffixes} 之一的文件夹。",
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
    """The folder of weights in a zip, on the disk until the block ends.

    Args:
        path: of the zip.
        progress: told how many bytes are unpacked.

    Raises WeightsError with a sentence for whatever is no plain zip of one folder of weights, and for a full disk.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        folder = Path(place) / path.stem
        folder.mkdir()
        with _opened(path) as archive:
            _unpack(archive, _chosen(archive, path), folder, path, progress)
        yield folder


def weights_in(path: Path) -> tuple[str, ...]:
    """Names of the weight files that would be read from a zip. Raises as `unzipped`."""
    with _opened(path) as archive:
        return tuple(name for name in _chosen(archive, path) if name.lower().endswith(SUFFIXES))


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with path.open("rb") as file, open_bounded(file, _AT_ONCE) as archive:
            yield archive
    except ByteLimitError as error:
        raise WeightsError(_MANY.format(zip=path.name, most=MOST_FILES)) from error
    except (OSError, *_DAMAGES) as error:
        if isinstance(error, WeightsError):
            raise
        raise unreadable(path) from error


def _chosen(archive: zipfile.ZipFile, path: Path) -> dict[str, zipfile.ZipInfo]:
    """The files of the one folder that holds weights, by the last part of their names."""
    entries = [entry for entry in archive.infolist() if not entry.filename.endswith("/")]
    if len(entries) > MOST_FILES:
        raise WeightsError(_MANY.format(zip=path.name, most=MOST_FILES))
    folders: dict[PurePosixPath, dict[str, zipfile.ZipInfo]] = {}
    for entry in entries:
        place = _place(entry, path)
        if not place.name.lower().endswith((*SUFFIXES, ".json")) or any(
            part.startswith((".", "__MACOSX")) for part in place.parts
        ):
            continue
        _check_entry(entry, place.name, path)
        found = folders.setdefault(place.parent, {})
        if place.name in found:
            raise WeightsError(_TWICE.format(zip=path.name, name=place.name))
        found[place.name] = entry
    with_weights = {at: found for at, found in folders.items() if any(n.lower().endswith(SUFFIXES) for n in found)}
    if not with_weights:
        raise WeightsError(_NO_WEIGHTS.format(zip=path.name, suffixes=", ".join(SUFFIXES)))
    if len(with_weights) > 1:
        some = ", ".join(sorted(map(str, with_weights))[:3])
        raise WeightsError(_FOLDERS.format(zip=path.name, some=some))
    (chosen,) = with_weights.values()
    _check_sizes(chosen, path)
    return chosen


def _place(entry: zipfile.ZipInfo, path: Path) -> PurePosixPath:
    """Where an entry says it lies. Raises WeightsError where that is outside, or is no name."""
    said = entry.orig_filename
    place = PurePosixPath(said.replace("\\", "/"))
    if place.is_absolute() or ".." in place.parts or re.match("[A-Za-z]:", said):
        raise WeightsError(_OUTSIDE.format(zip=path.name, name=_shown(said)))
    return place


def _check_entry(entry: zipfile.ZipInfo, name: str, path: Path) -> None:
    said = {"zip": path.name, "name": _shown(name)}
    if not _NAME.fullmatch(name):
        raise WeightsError(_ODD.format(**said))
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
        raise WeightsError(_LINK.format(**said))
    if entry.flag_bits & 1:
        raise WeightsError(_ENCRYPTED.format(**said))
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise WeightsError(_PACKING.format(**said))


def _check_sizes(chosen: dict[str, zipfile.ZipInfo], path: Path) -> None:
    """By what the directory states: `zipfile` never unpacks more of a file than that."""
    unpacked, packed, most = _bytes(chosen), path.stat().st_size, settings().max_upload_megabytes
    if unpacked > most * 10**6:
        variable = PREFIX + "MAX_UPLOAD_MEGABYTES"
        raise WeightsError(_LARGE.format(zip=path.name, megabytes=unpacked // 10**6, most=most, variable=variable))
    if unpacked > max(_HARMLESS_BYTES, settings().zip_ratio * packed):
        raise WeightsError(_BOMB.format(zip=path.name, ratio=unpacked // max(1, packed)))


def _unpack(
    archive: zipfile.ZipFile,
    chosen: dict[str, zipfile.ZipInfo],
    folder: Path,
    path: Path,
    progress: Progress | None,
) -> None:
    needed, done = _bytes(chosen), 0
    full = _FULL.format(zip=path.name, megabytes=needed // 10**6 + 1)
    if needed > shutil.disk_usage(folder).free:
        raise WeightsError(full)
    for name, entry in chosen.items():
        with archive.open(entry) as packed, (folder / name).open("xb") as file:
            while chunk := packed.read(_AT_ONCE // 4):
                try:
                    file.write(chunk)
                except OSError as error:
                    raise WeightsError(full) from error
                done += len(chunk)
                if progress is not None:
                    progress(done, needed)


def _bytes(chosen: dict[str, zipfile.ZipInfo]) -> int:
    return sum(entry.file_size for entry in chosen.values())


def _shown(name: str) -> str:
    """Without what is no letter: a name may turn the direction of the sentence around it."""
    return "".join(letter if letter.isprintable() else "?" for letter in name[:60])
