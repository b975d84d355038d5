"""Listing of a folder's files by kind: hidden clutter is skipped, links never lead out of the folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from vitexplorer.core.settings import PREFIX, settings
from vitexplorer.core.text import Text
from vitexplorer.storage.findings import DataError, Finding, findings_of, quoted

_READ = {".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff"}
_FOREIGN = {".heic", ".heif", ".avif", ".jp2", ".jxl", ".svg", ".psd", ".ico"}
"""Image formats that cannot be read; they are listed so that the report names each with the reason"""
_TABLES = {".csv", ".tsv"}
_ARCHIVES = {".zip", ".rar", ".7z", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst"}
_CLUTTER = {"__macosx", "thumbs.db", "desktop.ini"}
_STARTS = (b"\xff\xd8\xff", b"\x89PNG\r\n", b"GIF87a", b"GIF89a", b"II*\0", b"MM\0*")
START_BYTES = 12  # as many as `looks_like_an_image` needs


def is_image_name(name: str) -> bool:
    """Return True for the suffix of an image."""
    return _suffix(name) in _READ | _FOREIGN


def is_table_name(name: str) -> bool:
    """Return True for the suffix of a table of comma- or tab-separated values."""
    return _suffix(name) in _TABLES


def is_archive_name(name: str) -> bool:
    """Return True for the suffix of an archive."""
    return _suffix(name) in _ARCHIVES


def is_clutter(name: str) -> bool:
    """Return True for hidden files and those of the system: `.ipynb_checkpoints`, `._cat.jpg`, `Thumbs.db`."""
    return name.startswith(".") or name.casefold() in _CLUTTER


def looks_like_an_image(start: bytes) -> bool:
    """Return True for the first bytes of an image, whatever the file's name."""
    return start.startswith(_STARTS) or (start[:4] == b"RIFF" and start[8:12] == b"WEBP")


def _suffix(name: str) -> str:
    return PurePosixPath(name).suffix.lower()


@dataclass(frozen=True)
class Listing:
    """The files below a folder: paths relative to it, with slashes, sorted."""

    root: Path
    images: tuple[str, ...]
    tables: tuple[str, ...]
    folders: tuple[str, ...]
    findings: tuple[Finding, ...]


def list_files(root: Path, bound: Literal["data_files", "survey_images"] = "data_files") -> Listing:
    """List all files below `root`; a link to a file of the same folder counts as that file, any other is left out.

    Args:
        root: the folder.
        bound: name of the setting that limits the number of files (for a survey: of images); 0 allows any number.

    Raises:
        DataError: `root` is no folder, cannot be read or holds too many files.
    """
    found = {"image": [], "table": [], "folder": [], "archive": [], "link": [], "closed": [], "other": []}
    real_root, waiting, files, most = _checked(root), [""], 0, getattr(settings(), bound)
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(real_root / folder) as entries:
                names = [entry for entry in entries if not is_clutter(entry.name)]
        except OSError:
            found["closed"].append(folder)
            continue
        for entry in names:
            place = f"{folder}/{entry.name}" if folder else entry.name
            kind = _kind(entry, real_root)
            found[kind].append(place)
            if kind == "folder":
                waiting.append(place)
        files += len(names)
        if most and (len(found["image"]) if bound == "survey_images" else files) > most:
            raise DataError(_MANY[bound].format(most=most, variable=PREFIX + bound.upper()))
    if found["closed"] == [""]:
        raise DataError(_CLOSED_ROOT.format(name=quoted(root)))
    findings = findings_of((f"left_out_{kind}", *of, sorted(found[kind])) for kind, of in _LEFT_OUT.items())
    images, tables, folders = (tuple(sorted(found[kind])) for kind in ("image", "table", "folder"))
    return Listing(real_root, images, tables, folders, tuple(findings))


_MISSING = Text("There is no folder {name}. Check the path.", "找不到文件夹 {name}。请检查路径。")
_NO_FOLDER = Text(
    "{name} is a file, not a folder. Give the folder that holds the images.",
    "{name} 是文件而不是文件夹。请指定存放图像的文件夹。",
)
_CLOSED_ROOT = Text("The folder {name} cannot be read. Check its permissions.", "无法读取文件夹 {name}。请检查权限。")
_MANY = {
    "data_files": Text(
        "There are more than {most} files in the folder. Take fewer images, or raise {variable}.",
        "文件夹中的文件超过 {most} 个。请减少图像，或调大 {variable}。",
    ),
    "survey_images": Text(
        "There are more than {most} images in the folder. Take fewer, or raise {variable}.",
        "文件夹中的图像超过 {most} 幅。请减少图像，或调大 {variable}。",
    ),
}
_LEFT_OUT = {
    "link": ("warning", Text("Links that lead out of the folder are left out: {count} ({names}).",
                             "指向文件夹之外的链接已忽略：{count} 个（{names}）。")),
    "closed": ("warning", Text("Folders that cannot be opened are left out: {count} ({names}). Check permissions.",
                               "无法打开的文件夹已忽略：{count} 个（{names}）。请检查权限。")),
    "archive": ("warning", Text("Archives inside the folder are left out: {count} ({names}). Unpack them first.",
                                "文件夹内的压缩包已忽略：{count} 个（{names}）。请先解压。")),
    "other": ("note", Text("Files that are no images are left out: {count} ({names}).",
                           "非图像文件已忽略：{count} 个（{names}）。")),
}  # fmt: skip


def _checked(root: Path) -> Path:
    """Resolve the links in the folder's path."""
    try:
        real = root.expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError):  # missing; a loop of links or no home; a null character
        raise DataError(_MISSING.format(name=quoted(root))) from None
    if not real.is_dir():
        raise DataError(_NO_FOLDER.format(name=quoted(root)))
    return real


def _kind(entry: os.DirEntry, root: Path) -> str:
    if entry.is_symlink() and not _leads_inside(entry, root):
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    if not entry.is_file():
        return "other"  # a pipe, a socket, a device
    if is_image_name(entry.name):
        return "image"
    if is_table_name(entry.name):
        return "table"
    if is_archive_name(entry.name):
        return "archive"
    return "image" if looks_like_an_image(_start(entry)) else "other"


def _leads_inside(entry: os.DirEntry, root: Path) -> bool:
    try:
        target = Path(entry.path).resolve(strict=True)
    except (OSError, RuntimeError):
        return False
    return target.is_file() and target.is_relative_to(root)


def _start(entry: os.DirEntry) -> bytes:
    try:
        with open(entry.path, "rb") as file:
            return file.read(START_BYTES)
    except OSError:
        return b""
