"""Checks of a zip's directory before unpacking: names decoded, dangerous entries refused.

Names without the UTF-8 flag have an unknown encoding; Python reads them as DOS code page 437. Chinese Windows writes
GBK there, and many other programs UTF-8. The encoding is chosen for all names of the archive together.
"""

from __future__ import annotations

import io
import re
import stat
import struct
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from vitexplorer.core.settings import PREFIX, settings
from vitexplorer.core.text import Text
from vitexplorer.storage.bounded_zips import ByteLimitError, open_bounded
from vitexplorer.storage.findings import DataError, Finding, findings_of, listed, readable_name
from vitexplorer.storage.image_files import is_archive_name, is_clutter

_MOST_NAME_BYTES = 240  # of 255 that common file systems allow: room for a number against collisions
_MOST_PATH_BYTES = 1000
_MOST_FOLDERS = 20
_DIRECTORY_BYTES = 256  # bytes of the archive's directory for each file; about 100 are usual
_LEAST_PIECE = 2**22  # bytes that may always be read at once
_HARMLESS_BYTES = 2**24  # unpacked size below which a zip is never treated as a bomb
_UTF8_FLAG, _ENCRYPTED_FLAG = 0x800, 0x1
_DRIVE = re.compile("[A-Za-z]:")


@dataclass(frozen=True)
class Entry:
    """One file of a zip that may be unpacked."""

    info: zipfile.ZipInfo
    path: str
    """Relative path with slashes and without `..`; unique when letter case is ignored"""


def open_zip(file: io.BufferedReader, name: str) -> zipfile.ZipFile:
    """Open a zip. Raises DataError if it is not a zip, is damaged, or its directory exceeds the settings."""
    most = settings().data_files
    try:
        return open_bounded(file, max(_LEAST_PIECE, most * _DIRECTORY_BYTES))
    except ByteLimitError:
        raise DataError(_MANY.format(most=most, variable=PREFIX + "DATA_FILES")) from None
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, struct.error):
        raise DataError(_NO_ZIP.format(name=listed([readable_name(name)]))) from None


def checked_entries(archive: zipfile.ZipFile, packed_bytes: int) -> tuple[list[Entry], list[Finding]]:
    """Return the entries of a zip of `packed_bytes` that may be unpacked, and findings about those left out.

    Raises DataError for paths that leave the archive or are too long, for passwords, for compression other than
    Deflate, and for more files or bytes than the settings allow.
    """
    files = [info for info in archive.infolist() if not info.filename.endswith("/")]  # `is_dir` fails for an empty name
    if len(files) > settings().data_files:
        raise DataError(_MANY.format(most=settings().data_files, variable=PREFIX + "DATA_FILES"))
    accepted, links, nested = [], [], []
    for info, path in zip(files, _names(files), strict=True):
        parts = _safe_parts(path)
        if any(map(is_clutter, parts)):
            continue
        if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
            links.append(path)
        elif is_archive_name(path):
            nested.append(path)
        else:
            _check_packing(info, path)
            accepted.append((info, parts))
    _check_sizes([info for info, _ in accepted], packed_bytes)
    left_out = [("left_out_link", "warning", _LINKS, links), ("left_out_archive", "warning", _NESTED, nested)]
    return _distinct(accepted), findings_of(left_out)


# ------------------------------------------------------------------------------------------------- the sentences

_NO_ZIP = Text(
    "{name} is damaged or not a .zip file. Pack the folder as an ordinary .zip and upload it again.",
    "{name} 已损坏，或不是 .zip 文件。请将文件夹重新打包为普通 .zip 后再上传。",
)
_MANY = Text(
    "The zip holds more than {most} files. Pack fewer, or raise {variable}.",
    "压缩包中的文件超过 {most} 个。请减少文件，或调大 {variable}。",
)
_LARGE = Text(
    "The zip would unpack to {megabytes} MB; at most {most} MB are accepted. Pack fewer or smaller images, or raise "
    "{variable}.",
    "压缩包解压后为 {megabytes} MB；最多接受 {most} MB。请减少或缩小图像，或调大 {variable}。",
)
_BOMB = Text(
    "The zip would unpack to {ratio} times its size, as images and weights never do; it is refused. Pack the files "
    "themselves.",
    "压缩包解压后将达到自身大小的 {ratio} 倍；图像和权重几乎不可再压缩，因此拒绝。请直接打包文件本身。",
)
_OUTSIDE = Text(
    "The zip has a path that leads out of its folder ({name}) and is refused. Pack the folder of images again.",
    "压缩包中有指向其文件夹之外的路径（{name}），已拒绝。请重新打包图像文件夹。",
)
_LONG = Text(
    "The zip has a path that is too long or too deep ({name}). Shorten the names and pack it again.",
    "压缩包中有过长或过深的路径（{name}）。请缩短名称后重新打包。",
)
_ENCRYPTED = Text(
    "The zip is protected by a password ({name}). Pack it without one.",
    "压缩包受密码保护（{name}）。请不设密码重新打包。",
)
_PACKING = Text(
    "The zip is packed in an unusual way ({name}). Pack it again with the usual method, Deflate.",
    "压缩包使用了不常见的压缩方式（{name}）。请使用常规方式 Deflate 重新打包。",
)
_LINKS = Text("Links in the zip are left out: {count} ({names}).", "压缩包中的链接已忽略：{count} 个（{names}）。")
_NESTED = Text(
    "Archives inside the zip are left out: {count} ({names}). Pack their images directly.",
    "压缩包中嵌套的压缩包已忽略：{count} 个（{names}）。请直接打包其中的图像。",
)


# ------------------------------------------------------------------------------------------------- sizes


def _check_packing(info: zipfile.ZipInfo, path: str) -> None:
    name = listed([readable_name(path)])
    if info.flag_bits & _ENCRYPTED_FLAG:
        raise DataError(_ENCRYPTED.format(name=name))
    # other methods unpack everything they read at once, without a limit
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise DataError(_PACKING.format(name=name))


def _check_sizes(files: Sequence[zipfile.ZipInfo], packed_bytes: int) -> None:
    """Check the sizes that the directory states; `zipfile` never unpacks more than that."""
    limits = settings()
    unpacked = sum(info.file_size for info in files)
    if unpacked > limits.data_megabytes * 10**6:
        sizes = {"megabytes": unpacked // 10**6, "most": limits.data_megabytes}
        raise DataError(_LARGE.format(**sizes, variable=PREFIX + "DATA_MEGABYTES"))
    if unpacked > max(_HARMLESS_BYTES, limits.zip_ratio * packed_bytes):
        raise DataError(_BOMB.format(ratio=unpacked // max(1, packed_bytes)))


# ------------------------------------------------------------------------------------------------- names


def _names(files: Sequence[zipfile.ZipInfo]) -> list[str]:
    unflagged = [info.orig_filename for info in files if not info.flag_bits & _UTF8_FLAG]
    encoding = _encoding([name.encode("cp437") for name in unflagged])
    return [
        info.orig_filename if info.flag_bits & _UTF8_FLAG else info.orig_filename.encode("cp437").decode(encoding)
        for info in files
    ]


def _encoding(names: Sequence[bytes]) -> str:
    """Guess the encoding of unflagged names: UTF-8, GB 18030 if it yields Chinese words, else code page 437."""
    together = b"\n".join(names)
    for encoding in ("utf-8", "gb18030"):
        try:
            text = together.decode(encoding)
        except UnicodeDecodeError:
            continue
        if encoding == "utf-8" or _is_chinese(text):
            return encoding
    return "cp437"


def _is_chinese(text: str) -> bool:
    """Return True if most non-ASCII characters are in GB 2312, the common ones; random byte pairs rarely are."""
    foreign = [c for c in text if not c.isascii()]
    return sum(bool(c.encode("gb2312", "ignore")) for c in foreign) > 0.8 * len(foreign)


def _safe_parts(path: str) -> tuple[str, ...]:
    """Return folders and name of an entry. Raises DataError if the path leaves the target folder."""
    name = listed([readable_name(path)])
    path = path.partition("\0")[0].replace("\\", "/")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or _DRIVE.match(path) or ".." in parts or not parts:
        raise DataError(_OUTSIDE.format(name=name))
    sizes = [len(part.encode(errors="surrogatepass")) for part in parts]
    if max(sizes) > _MOST_NAME_BYTES or sum(sizes) > _MOST_PATH_BYTES or len(parts) > _MOST_FOLDERS:
        raise DataError(_LONG.format(name=name))
    return tuple(map(readable_name, parts))


def _distinct(accepted: Sequence[tuple[zipfile.ZipInfo, tuple[str, ...]]]) -> list[Entry]:
    """Make the paths unique when letter case is ignored; the second "a.jpg" becomes "a (2).jpg"."""
    taken: Counter[str] = Counter()
    entries = []
    for info, parts in accepted:
        path = "/".join(parts)
        stem, dot, ending = path.rpartition(".")
        original = path.casefold()
        while path.casefold() in taken:
            taken[original] += 1
            path = f"{stem or ending} ({taken[original]}){dot}{ending if stem else ''}"
        taken[path.casefold()] += 1
        entries.append(Entry(info, path))
    return entries
