"""Atomic creation of a folder: filled under a temporary name beside it, renamed at the end."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vitexplorer.core.text import Text
from vitexplorer.storage.atomic_writes import disk_full, is_full
from vitexplorer.storage.findings import DataError, listed, readable_name

_SPARE_BYTES = 2**26  # a disk is never filled to the last byte


@contextmanager
def fresh_folder(path: Path, needed_bytes: int = 0) -> Iterator[Path]:
    """Yield an empty folder to write into; it becomes `path` on success and is removed after an error.

    Raises DataError if `path` already holds something, if `needed_bytes` do not fit, and for a disk that is
    full or cannot be written while the block runs.
    """
    try:
        if path.is_symlink() or (path.exists() and (not path.is_dir() or any(path.iterdir()))):
            raise DataError(_TAKEN.format(name=listed([readable_name(path.name)])))
        path.parent.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(path.parent).free
        if needed_bytes + _SPARE_BYTES > free:
            raise DataError(_NO_SPACE.format(needed=needed_bytes // 10**6 + 1, free=free // 10**6))
        unfinished = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=path.parent))
        try:
            yield unfinished
            if path.exists():
                path.rmdir()
            unfinished.rename(path)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)  # already renamed on success
    except OSError as error:
        name = listed([readable_name(path.name)])
        raise DataError(disk_full(path.parent).text if is_full(error) else _UNWRITABLE.format(name=name)) from error


_TAKEN = Text(
    "The folder {name} is not empty. Choose a new or empty folder.", "文件夹 {name} 已有内容。请指定新的或空的文件夹。"
)
_NO_SPACE = Text(
    "The images need {needed} MB, but the disk has only {free} MB left. Free some space; nothing was written.",
    "图像需要 {needed} MB，而磁盘仅剩 {free} MB。请腾出空间；未写入任何内容。",
)
_UNWRITABLE = Text(
    "The folder {name} cannot be written. Check its path and permissions; nothing half-written was left behind.",
    "无法写入文件夹 {name}。请检查路径和权限；未留下写到一半的文件。",
)
