"""Whose a job is while somebody works on it: one process at a time, known from its folder by whoever looks.

`process.json` names the process. Whoever launches one writes its name there before anybody else can look, so that two
servers on one folder count the same; the process itself confirms it when it begins. A process that was killed has left
its name behind, which is nobody's then. One that stands still (SIGSTOP, Ctrl-Z) has a name that works on nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

from vitexplorer.finetune.job.folder import JobError, stop_file
from vitexplorer.finetune.job.kept_file import KeptFile
from vitexplorer.read_back import NOTHING, Amount, BrokenFileError, Count
from vitexplorer.words import Text

_PATIENCE = 15.0
"""seconds: whoever has a folder keeps it for milliseconds"""
_STANDING = (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP)


@dataclass(frozen=True)
class Claim:
    """The process that works on a job."""

    pid: Count
    created: Amount
    """seconds since 1970: a number may be given to another process"""
    begun: bool = True
    """False where it was launched and has not yet said so itself"""


CLAIM = KeptFile("process.json", Claim, NOTHING)


def _claimant(folder: Path) -> tuple[psutil.Process, bool] | None:
    """The process that has a job, and whether it has begun; None for nobody, also after a kill."""
    try:
        claim = CLAIM.read(folder)
        if claim is None:
            return None
        process = psutil.Process(claim.pid)
        same = abs(process.create_time() - claim.created) < 1
        return (process, claim.begun) if same and process.status() != psutil.STATUS_ZOMBIE else None
    except (BrokenFileError, OverflowError, psutil.Error):
        return None


def worker_of(folder: Path) -> int | None:
    """Id of the process that works on a job now; None where nobody does, also where it stands still."""
    found = _claimant(folder)
    return found[0].pid if found and not _stands(found[0]) else None


def standing_still(folder: Path) -> int | None:
    """Id of the process that has a job and was stopped by the system; None where there is none."""
    found = _claimant(folder)
    return found[0].pid if found and _stands(found[0]) else None


def _stands(process: psutil.Process) -> bool:
    try:
        return process.status() in _STANDING
    except psutil.Error:
        return False


def is_first_process() -> bool:
    """Whether this process tells and writes for all: the only one, or the first of `accelerate launch`."""
    return not int(os.environ.get("RANK", 0))


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Nobody else takes or gives a job of this folder within the context, in whatever process.

    Raises JobError where another process keeps it for long: it stands still, or its disk does not answer.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=_PATIENCE)
    except Timeout:
        raise JobError(
            Text(
                "Another process has kept {folder} for {seconds:g} seconds. Try again, or end that process.",
                "另一个进程占用 {folder} 已超过 {seconds:g} 秒。请重试，或结束该进程。",
            ).format(folder=folder.name, seconds=_PATIENCE)
        ) from None
    try:
        yield
    finally:
        lock.release()


def give(folder: Path, pid: int) -> None:
    """The job is that process's, which was just launched; called within `alone`."""
    with suppress(psutil.Error):  # it is gone already, and has left its reason in the log
        CLAIM.write(folder, Claim(pid, psutil.Process(pid).create_time(), begun=False))


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """The job is this process's within the context; a stop that was asked for ends with it.

    Raises JobError where another process has it. The processes of `accelerate launch` claim it together.
    """
    if not is_first_process():
        yield
        return
    with alone(folder):
        found = _claimant(folder)
        if found and not _is_meant(*found):
            raise JobError(
                Text("{folder} is being trained already.", "{folder} 正在训练中。").format(folder=folder.name)
            )
        CLAIM.write(folder, Claim(os.getpid(), psutil.Process().create_time()))
    try:
        yield
    finally:
        with suppress(OSError):
            stop_file(folder).unlink(missing_ok=True)
            (folder / CLAIM.name).unlink(missing_ok=True)


def _is_meant(process: psutil.Process, begun: bool) -> bool:
    """Whether the job was given to this process, or to the launcher that made it."""
    return not begun and process.pid in {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
