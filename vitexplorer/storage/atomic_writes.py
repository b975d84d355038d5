"""The one place that writes what is to last: a file is there in its old or in its new state, never in between.

That holds for a kill, for a disk that fills up, and for a process that stood still while another took over its work:
where files below a folder are `guarded`, a process that may no longer write there finds that out before it does.
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
_SAID_FULL = ("No space left", "os error 28", "Disk quota exceeded", "os error 122", "File too large", "os error 27")
"""what libraries that have errors of their own say"""

_LONG_NAME = 200
"""bytes; a name may have 255"""

Permit = Callable[[], AbstractContextManager]
"""entered while a file is put in its place; raises what keeps it from that"""

_permits: dict[Path, Permit] = {}


class DiskFullError(ExplainedError):
    """Nothing more can be written; the message says where, and what is safe."""


def replace_file(path: Path, write: Callable[[Path], object], *, is_kept: bool = True) -> None:
    """Let `write` make a new file beside `path`, bring it to the disk, then put it in the place of `path`.

    Whatever `write` raises is raised, and `path` is then as it was. Raises DiskFullError where there is no room.

    Args:
        path: of the file.
        write: called with the place to write to, a name with the ending of `path`.
        is_kept: whether it must outlast a power cut; what is made again in a moment need not wait for the disk.
    """
    beside = beside_of(path)
    try:
        with full_disk_is_a_sentence(path.parent):
            try:
                write(beside)
                if is_kept:
                    with open(beside, "rb+") as file:
                        os.fsync(file.fileno())
            except FileNotFoundError:  # who may write here instead of us has tidied up
                with permitted(path):
                    raise
            with permitted(path):
                os.replace(beside, path)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def beside_of(path: Path) -> Path:
    """A name for what will be `path`. Its ending stays, for some writers look at it."""
    fits = len(os.fsencode(path.name)) < _LONG_NAME
    return path.with_name(f".{secrets.token_hex(4)}-{path.name if fits else path.suffix}")


def replace_bytes(path: Path, content: bytes, *, is_kept: bool = True) -> None:
    """`replace_file` for bytes."""
    replace_file(path, lambda beside: beside.write_bytes(content), is_kept=is_kept)


def replace_text(path: Path, text: str) -> None:
    """`replace_file` for a text in UTF-8."""
    replace_bytes(path, text.encode())


def replace_copy(path: Path, source: Path, *, is_kept: bool = True) -> None:
    """`replace_file` for the content of another file."""
    replace_file(path, lambda beside: shutil.copyfile(source, beside), is_kept=is_kept)


@contextmanager
def guarded(folder: Path, permit: Permit) -> Iterator[None]:
    """Within the context this process puts files below `folder` in place only within `permit()`."""
    before = _permits.get(folder)
    _permits[folder] = permit
    try:
        yield
    finally:
        _permits.pop(folder)
        if before is not None:
            _permits[folder] = before


def permitted(path: Path) -> AbstractContextManager:
    """The context in which something at `path` may be changed."""
    permit = next((_permits[folder] for folder in (path, *path.parents) if folder in _permits), nullcontext)
    return permit()


@contextmanager
def full_disk_is_a_sentence(folder: Path) -> Iterator[None]:
    """Turn the operating system's "no space left" into a DiskFullError."""
    try:
        yield
    except Exception as error:  # safetensors wraps the system's error in one of its own
        if is_full(error):
            raise disk_full(folder) from error
        raise


def is_full(error: BaseException) -> bool:
    """Whether an error says that a disk, a share of it or a file has no more room."""
    return getattr(error, "errno", None) in _FULL or any(said in str(error) for said in _SAID_FULL)


def disk_full(folder: Path) -> DiskFullError:
    """The error for a folder whose disk, or this user's share of it, is full."""
    existing = next((one for one in (folder, *folder.parents) if one.exists()), folder)
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
