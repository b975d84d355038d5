"""Job claims: one process at a time works on a job's folder, and every other process can see which.

`process.json` is the claim: process id, machine and a random token. The launcher writes it before any other process
can look, so that two servers on one folder count alike; the launched process confirms it and then sends a heartbeat:
the file's time changes once a second. Clocks of two machines are never compared: an observer looks twice and sees
that the time has changed, or that it has not for `STILL` seconds of its own clock.

The claim of a killed process is void. The claim of a suspended one (SIGSTOP, a paused container, a sleeping laptop) may
be taken over or revoked by any process, which gives the folder another token or none. The suspended process notices
when it wakes, before it writes: within `claimed`, only the holder of the token puts files in place below the folder,
and the token cannot change meanwhile.
"""

from __future__ import annotations

import os
import platform
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

from vitexplorer.core.text import ExplainedError, Text
from vitexplorer.storage.atomic_writes import guarded
from vitexplorer.storage.checked_reading import NOTHING, Amount, BrokenFileError, Count
from vitexplorer.storage.record_file import RecordFile

BEAT = 1.0
"""Seconds between two heartbeats"""
STILL = 20.0
"""Seconds without a heartbeat after which a process counts as suspended"""
_TO_BEGIN = 600.0
"""Seconds from launch to first heartbeat that a process on another machine has, which cannot be inspected"""
_PATIENCE = 15.0
"""Seconds to wait for a folder's lock, which is normally held for milliseconds"""
_BETWEEN_LOOKS = 0.05
_STANDING = (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP)


class JobError(ExplainedError):
    """Raised where something cannot be done with a job; the message says why and what to do."""


class TakenError(JobError):
    """Raised where another process works on the job."""


class LostError(JobError):
    """Raised in a process whose job was stopped or taken over while it was suspended."""


def stop_file(folder: Path) -> Path:
    """Return the file that asks a job to stop by being there."""
    return folder / "stop"


@dataclass(frozen=True)
class Claim:
    """The process that works on a job."""

    pid: Count
    created: Amount
    """Start of the process in seconds since 1970, since ids are reused"""
    begun: bool = True
    """False from the launch until the process confirms it"""
    host: str = ""
    """Machine on which `pid` is valid, see `_host`; empty: this one"""
    token: str = ""


CLAIM = RecordFile("process.json", Claim, NOTHING)


@cache
def _host() -> str:
    """Identify this machine since its start; a container counts as one."""
    parts = [platform.node()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        parts.append(os.readlink("/proc/self/ns/pid"))
    return " ".join(parts)


def _claim_of(pid: int, *, begun: bool) -> Claim:
    return Claim(pid, psutil.Process(pid).create_time(), begun, _host(), secrets.token_hex(16))


# ---------------------------------------------------------------------------------------------- looking


@dataclass(frozen=True)
class _Holder:
    """The process that has a job."""

    claim: Claim
    process: psutil.Process | None
    """None for a process on another machine"""
    beat: int
    """Time of the last heartbeat"""
    stands: bool


_seen: dict[Path, tuple[str, int, float]] = {}
"""Token and heartbeat of each folder, and when this process first saw them"""


def _holder(folder: Path) -> _Holder | None:
    """Find the holder of a job; None where there is none, also after a kill."""
    try:
        claim, beat = CLAIM.read(folder), (folder / CLAIM.name).stat().st_mtime_ns
    except (BrokenFileError, OSError):
        claim = None
    process = None
    if claim is not None and claim.host in ("", _host()):
        process = _alive(claim)
        claim = claim if process else None
    if claim is None:
        _seen.pop(folder, None)
        return None
    seen = _seen.get(folder)
    if seen is None or seen[:2] != (claim.token, beat):
        _seen[folder] = seen = claim.token, beat, time.monotonic()
    still = time.monotonic() - seen[2]
    stands = still >= STILL if claim.begun else process is None and still >= _TO_BEGIN
    return _Holder(claim, process, beat, stands or (process is not None and _is_stopped(process)))


def _alive(claim: Claim) -> psutil.Process | None:
    """Find the process of a claim on this machine; None where it has ended."""
    try:
        process = psutil.Process(claim.pid)
        same = abs(process.create_time() - claim.created) < 1
        return process if same and process.status() != psutil.STATUS_ZOMBIE else None
    except (OverflowError, psutil.Error):
        return None


def _is_stopped(process: psutil.Process) -> bool:
    try:
        return process.status() in _STANDING
    except psutil.Error:
        return False


def worker_of(folder: Path) -> int | None:
    """Return the id of the process that works on a job; None where there is none or it is suspended."""
    holder = _holder(folder)
    return holder.claim.pid if holder and not holder.stands else None


def standing_still(folder: Path) -> int | None:
    """Return the id of the suspended process that has a job; None where there is none."""
    holder = _holder(folder)
    return holder.claim.pid if holder and holder.stands else None


def process_of(folder: Path) -> psutil.Process | None:
    """Return the process on this machine that has a job, suspended or not."""
    holder = _holder(folder)
    return holder.process if holder else None


def begun_at(folder: Path) -> float | None:
    """Return the start of the process that has a job, seconds since 1970; None where there is none."""
    holder = _holder(folder)
    return holder.claim.created if holder else None


def is_first_process() -> bool:
    """Return True for the process that claims, reports and writes: the only one, or rank 0 of `accelerate launch`."""
    return not int(os.environ.get("RANK", 0))


# ---------------------------------------------------------------------------------------------- taking and giving


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Lock a folder against every process that would claim or hand over a job of it.

    Raises:
        JobError: another process keeps the lock: it is suspended, or its disk does not answer.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=_PATIENCE)
    except Timeout:
        raise JobError(
            Text(
                "Another process has held {folder} for {seconds:g} seconds. Try again, or end that process.",
                "另一个进程占用 {folder} 已超过 {seconds:g} 秒。请重试，或结束该进程。",
            ).format(folder=folder.name, seconds=_PATIENCE)
        ) from None
    try:
        yield
    finally:
        lock.release()


def give(folder: Path, pid: int) -> None:
    """Hand a job to a process that was just launched; called within `alone`."""
    with suppress(psutil.Error):  # it has ended already; the log has the reason
        CLAIM.write(folder, _claim_of(pid, begun=False))


def revoke(folder: Path) -> None:
    """Take a job from its process, which ends as soon as it notices, or when it wakes."""
    if CLAIM.is_in(folder):
        with alone(folder):
            (folder / CLAIM.name).unlink(missing_ok=True)


class HeldClaim:
    """A claim that this process holds."""

    def __init__(self, folder: Path, token: str):
        """Hold the claim with this token, the process's own or that of the process it works for."""
        self.folder = folder
        self.token = token
        self._is_lost = False
        self._is_over = threading.Event()

    def check(self) -> None:
        """Raise LostError where the last heartbeat found that the claim is lost."""
        if self._is_lost:
            raise LostError(_LOST.format(folder=self.folder.name))

    @contextmanager
    def permit(self) -> Iterator[None]:
        """Allow a file of the job to be put in place within the context; LostError where the claim is lost."""
        self._look()  # first without the lock, which would make a deleted folder again
        with alone(self.folder):
            self._look()
            yield

    def _look(self) -> None:
        self._is_lost = self._is_lost or not self._is_ours()
        self.check()

    def beat(self) -> None:
        """Send heartbeats, in a thread, until the claim ends or is lost."""
        while not self._is_over.wait(BEAT):
            if not self._is_ours():
                self._is_lost = True
                return
            with suppress(OSError):
                os.utime(self.folder / CLAIM.name)

    def end(self) -> None:
        """Give up the claim, if it is still held, and remove the request to stop."""
        self._is_over.set()
        with suppress(OSError, JobError), self.permit():
            stop_file(self.folder).unlink(missing_ok=True)
            (self.folder / CLAIM.name).unlink(missing_ok=True)

    def _is_ours(self) -> bool:
        try:
            claim = CLAIM.read(self.folder)
        except BrokenFileError:
            return False
        return claim is not None and claim.token == self.token


_LOST = Text(
    "{folder} was stopped, or another process has taken it over: this one ends. What it wrote before is kept.",
    "{folder} 已被停止，或已由另一个进程接手：本进程结束。此前写入的内容已保留。",
)


@contextmanager
def claimed(folder: Path) -> Iterator[HeldClaim]:
    """Claim a job within the context; files below its folder are put in place only while the claim holds.

    A process that seems to work is watched for a heartbeat; a suspended one loses its claim.

    Raises:
        TakenError: another process works on it.
    """
    _watch(folder)
    with alone(folder):
        holder = _holder(folder)
        if holder and not holder.stands and not _is_meant(holder):
            raise _taken(folder)
        claim = _claim_of(os.getpid(), begun=True)
        CLAIM.write(folder, claim)
    held = HeldClaim(folder, claim.token)
    threading.Thread(target=held.beat, name="claim", daemon=True).start()
    try:
        with guarded(folder, held.permit):
            yield held
    finally:
        held.end()


@contextmanager
def shared(folder: Path, token: str) -> Iterator[None]:
    """Work for the process whose claim has this token, and write only while it holds."""
    with guarded(folder, HeldClaim(folder, token).permit):
        yield


def _watch(folder: Path) -> None:
    """Wait until it is known whether the process that has a job works; TakenError where it does."""
    first = _holder(folder)
    while (holder := _holder(folder)) and not holder.stands and not _is_meant(holder):
        if holder.process is not None and (holder.process.pid == os.getpid() or not holder.claim.begun):
            raise _taken(folder)
        if first is None or (holder.claim.token, holder.beat) != (first.claim.token, first.beat):
            raise _taken(folder)
        time.sleep(_BETWEEN_LOOKS)


def _taken(folder: Path) -> TakenError:
    return TakenError(Text("{folder} is being trained already.", "{folder} 正在训练中。").format(folder=folder.name))


def _is_meant(holder: _Holder) -> bool:
    """Return True where the job was handed to this process, or to the launcher that started it."""
    if holder.claim.begun or holder.process is None:
        return False
    return holder.process.pid in {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
