"""Whose a job is while somebody works on it: one process at a time, known from its folder by whoever looks.

`process.json` is the claim: the process, its machine and a random token. Whoever launches a process writes its claim
there before anybody else can look, so that two servers on one folder count the same; the process itself confirms it
when it begins, and beats: the file's time changes once a second. No clocks are compared, for two machines' differ:
whoever looks again finds that the time has changed, or that it has stood still for `STILL` seconds of their own.

A process that was killed has left a claim that is nobody's. One that stands still (SIGSTOP, a paused container, a
laptop that sleeps) has a claim that anybody may take over or revoke, which gives the folder another token or none. The
one that wakes finds that out before it writes: within `claimed`, a file below the folder is put in its place only by
who has the token, and no token changes hands meanwhile.
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
"""seconds between two beats"""
STILL = 20.0
"""seconds without a beat after which a process stands still"""
_TO_BEGIN = 600.0
"""seconds that a process of another machine, which cannot be asked, has from its launch to its first beat"""
_PATIENCE = 15.0
"""seconds: whoever locks a folder locks it for milliseconds"""
_BETWEEN_LOOKS = 0.05
_STANDING = (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP)


class JobError(ExplainedError):
    """Something that cannot be done with a job; the message says why and what to do."""


class TakenError(JobError):
    """Another process works on it."""


class LostError(JobError):
    """The job of this process was stopped or taken over while it stood still."""


def stop_file(folder: Path) -> Path:
    """Return the file that asks a job to stop by being there."""
    return folder / "stop"


@dataclass(frozen=True)
class Claim:
    """The process that works on a job."""

    pid: Count
    created: Amount
    """seconds since 1970: a number may be given to another process"""
    begun: bool = True
    """False where it was launched and has not yet said so itself"""
    host: str = ""
    """where the number means something, see `_host`; empty: here"""
    token: str = ""


CLAIM = RecordFile("process.json", Claim, NOTHING)


@cache
def _host() -> str:
    """This machine since it was started; a container is a machine of its own."""
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
    """Who has a job."""

    claim: Claim
    process: psutil.Process | None
    """None for one of another machine"""
    beat: int
    """changes while it works"""
    stands: bool


_seen: dict[Path, tuple[str, int, float]] = {}
"""of each folder its token and beat, and when this process first saw them"""


def _holder(folder: Path) -> _Holder | None:
    """Who has a job; None for nobody, also after a kill."""
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
    """The process of a claim of this machine; None where it has ended."""
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
    """Id of the process that works on a job now; None where nobody does, also where it stands still."""
    found = _holder(folder)
    return found.claim.pid if found and not found.stands else None


def standing_still(folder: Path) -> int | None:
    """Id of the process that has a job and stands still; None where there is none."""
    found = _holder(folder)
    return found.claim.pid if found and found.stands else None


def process_of(folder: Path) -> psutil.Process | None:
    """The process of this machine that has a job, whether it works or stands still."""
    found = _holder(folder)
    return found.process if found else None


def begun_at(folder: Path) -> float | None:
    """Seconds since 1970 at which the process that has a job began; None where nobody has it."""
    found = _holder(folder)
    return found.claim.created if found else None


def is_first_process() -> bool:
    """Whether this process claims, tells and writes for all: the only one, or the first of `accelerate launch`."""
    return not int(os.environ.get("RANK", 0))


# ---------------------------------------------------------------------------------------------- taking and giving


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
        CLAIM.write(folder, _claim_of(pid, begun=False))


def revoke(folder: Path) -> None:
    """The job is nobody's: whoever works on it ends as soon as it notices, whoever stands still when it wakes."""
    if CLAIM.is_in(folder):
        with alone(folder):
            (folder / CLAIM.name).unlink(missing_ok=True)


class HeldClaim:
    """A claim of this process."""

    def __init__(self, folder: Path, token: str):
        """Args: token: of the claim; that of the process which shares its work with this one."""
        self.folder, self.token = folder, token
        self._is_lost, self._is_over = False, threading.Event()

    def check(self) -> None:
        """Raise LostError where the last beat found that the claim is another's."""
        if self._is_lost:
            raise LostError(_LOST.format(folder=self.folder.name))

    @contextmanager
    def permit(self) -> Iterator[None]:
        """A file of the job may be put in its place within the context. Raises LostError where it may not."""
        self._look()  # before a folder that is gone would be made again
        with alone(self.folder):
            self._look()
            yield

    def _look(self) -> None:
        self._is_lost = self._is_lost or not self._is_ours()
        self.check()

    def beat(self) -> None:
        """Beat until it is over, or the claim another's; in a thread."""
        while not self._is_over.wait(BEAT):
            if not self._is_ours():
                self._is_lost = True
                return
            with suppress(OSError):
                os.utime(self.folder / CLAIM.name)

    def end(self) -> None:
        """The job is nobody's, where it is still ours; a stop that was asked for ends with it."""
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
    """The job is this process's within the context, and files below the folder are put in place only while it is.

    A process that seems to work is watched for a beat; one that stands still loses its claim. Raises TakenError where
    another process works on it.
    """
    _watch(folder)
    with alone(folder):
        found = _holder(folder)
        if found and not found.stands and not _is_meant(found):
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
    """This process works for the one that has the claim with this token, and writes only while that has it."""
    with guarded(folder, HeldClaim(folder, token).permit):
        yield


def _watch(folder: Path) -> None:
    """Wait until it is known whether the process that has a job works. Raises TakenError where it does."""
    first = _holder(folder)
    while (found := _holder(folder)) and not found.stands and not _is_meant(found):
        if found.process is not None and (found.process.pid == os.getpid() or not found.claim.begun):
            raise _taken(folder)
        if first is None or (found.claim.token, found.beat) != (first.claim.token, first.beat):
            raise _taken(folder)
        time.sleep(_BETWEEN_LOOKS)


def _taken(folder: Path) -> TakenError:
    return TakenError(Text("{folder} is being trained already.", "{folder} 正在训练中。").format(folder=folder.name))


def _is_meant(found: _Holder) -> bool:
    """Whether the job was given to this process, or to the launcher that made it."""
    if found.claim.begun or found.process is None:
        return False
    return found.process.pid in {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
