"""Writes that survive a kill and a full disk: a file is there in its old or in its new state, never in between."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from vitexplorer.words import ExplainedError, Text

_FULL = {errno.ENOSPC, errno.EDQUOT}


class DiskFullError(ExplainedError):
    """Nothing more can be written; the message says where and what is safe."""


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` make a new file beside `path`, bring it to the disk, then put it in the place of `path`.

    Whatever `write` raises is raised, and `path` is then as it was. Raises DiskFullError where there is no room.
    """
    beside = path.with_name(f".{os.getpid()}-{path.name}")  # the ending stays: some writers look at it
    try:
        with full_disk_is_a_sentence(path.parent):
            write(beside)
            with open(beside, "rb+") as file:
                os.fsync(file.fileno())
            os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def replace_text(path: Path, text: str) -> None:
    """`replace_file` for a text in UTF-8."""
    replace_file(path, lambda beside: beside.write_text(text, encoding="utf-8"))


@contextmanager
def full_disk_is_a_sentence(folder: Path) -> Iterator[None]:
    """Turn the operating system's "no space left" into a DiskFullError."""
    try:
        yield
    except Exception as error:  # safetensors wraps the system's error in one of its own
        if getattr(error, "errno", None) in _FULL or "No space left" in str(error) or "os error 28" in str(error):
            raise DiskFullError(_NO_SPACE.format(folder=folder.name)) from error
        raise


_NO_SPACE = Text(
    "The disk is full: nothing more can be written to {folder}. What was saved before is kept; free some space and "
    "resume.",
    "磁盘已满：无法继续写入 {folder}。此前保存的内容已保留；请释放空间后继续。",
)
