"""Work on the model behind a page: on threads, one at a time, told how far it is, stopped when nobody waits for it.

A visitor has one such job at a time. Another one, the stop button, another room or another picture stop it, and so
does closing the page: gradio then closes the generator that waits for it. Work whose result is kept for everybody is
different: once its turn has come it goes on to its end, since somebody will ask for it again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from vitexplorer.words import Text

T = TypeVar("T")

BETWEEN_STEPS = 0.2
"""seconds"""

Turn = type(threading.RLock())  # RLock itself is a function
# As many as gradio lets in from all rooms and then some: a job waits for its turn, never for a thread.
_threads = ThreadPoolExecutor(max_workers=64, thread_name_prefix="background")


class StoppedError(Exception):
    """Nobody waits for this work any more."""


Report = Callable[..., None]
"""A `Progress` that can also say what is being done: called with `done`, `total` (0 where unknown), perhaps a text."""


def untold(done: int, total: int, doing: Text | None = None, /) -> None:
    """A report that nobody hears."""


@dataclass(frozen=True)
class Step:
    """How far a job is; nothing is known before its turn."""

    done: int = 0
    total: int = 0
    seconds: float = 0.0
    """since its turn came"""
    doing: Text | None = None
    """what is being done, where the work says so"""
    waiting: bool = False
    """somebody else's turn was found to be on"""

    @property
    def share(self) -> float | None:
        """Done of all, 0-1; None where it is not known how much there is."""
        return self.done / self.total if self.total else None

    @property
    def seconds_left(self) -> float | None:
        """At the pace so far; None before there is one."""
        return self.seconds / self.done * (self.total - self.done) if self.done else None


@dataclass(frozen=True)
class Done(Generic[T]):
    """What a job found."""

    result: T


@dataclass
class _Job:
    """What one who waits and the thread that works know of each other."""

    shared: bool
    stopped: threading.Event = field(default_factory=threading.Event)
    reached: Step = Step()

    def check(self) -> None:
        """Raises StoppedError where nobody waits."""
        if self.stopped.is_set():
            raise StoppedError


class Background:
    """The running job of each visitor."""

    def __init__(self, turn: Turn):
        """Args: turn: held while a job works, so that one runs at a time."""
        self._turn = turn
        self._running: dict[str, _Job] = {}
        self._lock = threading.Lock()

    def stop(self, visitor: str) -> None:
        """Let go of a visitor's job, if there is one: it ends at its next report."""
        with self._lock:
            job = self._running.pop(visitor, None)
        if job:
            job.stopped.set()

    def run(
        self, visitor: str, work: Callable[[Report], T], *, shared: bool = False
    ) -> Generator[Step | Done[T], None, None]:
        """How far `work` is, again and again, then what it returned; nothing more once it is stopped.

        Closing the iterator stops the work. What the work raises is raised here.

        Args:
            visitor: who waits.
            work: done in its turn, on a thread of its own.
            shared: its result is kept for everybody: it runs beside the visitor's job, `stop` does not mean it, and
                once its turn has come it goes on to its end, also where nobody waits any more.
        """
        job = _Job(shared)
        if not shared:
            self._follow(visitor, job)
        ran = _threads.submit(self._take_turn, work, job)
        try:
            yield from _steps(job, ran)
        finally:
            job.stopped.set()
            ran.cancel()
            with self._lock:
                if self._running.get(visitor) is job:
                    del self._running[visitor]

    def _follow(self, visitor: str, job: _Job) -> None:
        """A visitor's earlier job makes way."""
        with self._lock:
            before, self._running[visitor] = self._running.get(visitor), job
        if before:
            before.stopped.set()

    def _take_turn(self, work: Callable[[Report], T], job: _Job) -> T:
        while not self._turn.acquire(timeout=BETWEEN_STEPS):
            job.reached = Step(waiting=True)
            job.check()
        try:
            start = time.monotonic()

            def report(done: int, total: int, doing: Text | None = None, /) -> None:
                if not job.shared:
                    job.check()
                job.reached = Step(done, total, time.monotonic() - start, doing)

            job.check()
            return work(report)
        finally:
            self._turn.release()


def _steps(job: _Job, ran: Future[T]) -> Generator[Step | Done[T], None, None]:
    while not job.stopped.is_set():
        yield job.reached
        if wait([ran], BETWEEN_STEPS).done:
            if not job.stopped.is_set():
                yield Done(ran.result())
            return
