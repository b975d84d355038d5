"""Atomic writes: a file is replaced whole or not at all, even if the process is killed or the disk fills up.

A process that was suspended while another took over its work must not write on: below a folder that is `guarded`,
a permit is asked for before each file is put in place.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path

from vitexplorer.core.text import ExplainedError, Text

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FULL_MESSAGES = (
    "No space left",
    "os error 28",
    "Disk quota exceeded",
    "os error 122",
    "File too large",
    "os error 27",
)
"""Messages of libraries that wrap the system's error in one of their own"""

_LONG_NAME = 200
"""Bytes; most file systems allow 255"""

Permit = Callable[[], AbstractContextManager]
"""Context that is entered while a file is put in place; it raises where that is not allowed"""

_permits: dict[Path, Permit] = {}


class DiskFullError(ExplainedError):
    """Raised when the disk is full; the message says where, and what is safe."""


def replace_file(path: Path, write: Callable[[Path], object], *, is_durable: bool = True) -> None:
    """Write a temporary file beside `path`, flush it to the disk, then rename it to `path`.

    Args:
        path: the file to replace.
        write: called with the temporary path, which has the suffix of `path`; its errors pass through, and leave
            `path` as it was.
        is_durable: True if the file must survive a power cut; False saves the wait for what is quickly made again.

    Raises:
        DiskFullError: there is no room.
    """
    beside = beside_of(path)
    try:
        with explain_full_disk(path.parent):
            try:
                write(beside)
                if is_durable:
                    with open(beside, "rb+") as file:
                        os.fsync(file.fileno())
            except FileNotFoundError:  # the process that has taken over may have tidied up
                with permitted(path):
                    raise
            with permitted(path):
                os.replace(beside, path)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def beside_of(path: Path) -> Path:
    """Make a temporary name for `path`, with its suffix, from which some writers choose the format."""
    fits = len(os.fsencode(path.name)) < _LONG_NAME
    return path.with_name(f".{secrets.token_hex(4)}-{path.name if fits else path.suffix}")


def replace_bytes(path: Path, content: bytes, *, is_durable: bool = True) -> None:
    """Replace a file's content by bytes, see `replace_file`."""
    replace_file(path, lambda beside: beside.write_bytes(content), is_durable=is_durable)


def replace_text(path: Path, text: str) -> None:
    """Replace a file's content by text in UTF-8, see `replace_file`."""
    replace_bytes(path, text.encode())


def replace_copy(path: Path, source: Path, *, is_durable: bool = True) -> None:
    """Replace a file's content by another file's, see `replace_file`."""
    replace_file(path, lambda beside: shutil.copyfile(source, beside), is_durable=is_durable)


@contextmanager
def guarded(folder: Path, permit: Permit) -> Iterator[None]:
    """Let this process put files below `folder` in place only within `permit()`."""
    before = _permits.get(folder)
    _permits[folder] = permit
    try:
        yield
    finally:
        _permits.pop(folder)
        if before is not None:
            _permits[folder] = before


def permitted(path: Path) -> AbstractContextManager:
    """Return the context in which something at `path` may be changed."""
    permit = next((_permits[folder] for folder in (path, *path.parents) if folder in _permits), nullcontext)
    return permit()


@contextmanager
def explain_full_disk(folder: Path) -> Iterator[None]:
    """Turn the operating system's "no space left" into DiskFullError."""
    try:
        yield
    except Exception as error:  # safetensors wraps the system's error in one of its own
        if is_full(error):
            raise disk_full(folder) from error
        raise


def is_full(error: BaseException) -> bool:
    """Return True for an error of a full disk, a used-up quota or a file at its size limit."""
    return getattr(error, "errno", None) in _FULL or any(message in str(error) for message in _FULL_MESSAGES)


def disk_full(folder: Path) -> DiskFullError:
    """Make the error for a folder whose disk, or the user's quota on it, is full."""
    existing = next((parent for parent in (folder, *folder.parents) if parent.exists()), folder)
    try:
        free = shutil.disk_usage(existing).free / 1e6
    except OSError:
        return DiskFullError(_NO_SPACE.format(folder=folder.name, free=""))
    free_text = Text(f" ({free:,.0f} MB are left)", f"（剩余 {free:,.0f} MB）")
    return DiskFullError(_NO_SPACE.format(folder=folder.name, free=free_text))


_NO_SPACE = Text(
    "The disk is full{free}: nothing more can be written to {folder}. What was saved before is kept, nothing "
    "half-written was left behind; free some space and go on.",
    "磁盘已满{free}：无法继续写入 {folder}。此前保存的内容已保留，未留下写到一半的文件；请释放空间后继续。",
)
