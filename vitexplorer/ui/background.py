"""Work that takes a while: done on a thread of its own, told how far it is, stopped when nobody waits for it.

A visitor has one such job at a time. Another one, the stop button, another room or another picture stop it, and so
does closing the page: gradio then closes the generator that waits for it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Generic, TypeVar

from vitexplorer.progress import Progress

T = TypeVar("T")

BETWEEN_STEPS = 0.2
"""seconds"""

Turn = type(threading.RLock())  # RLock itself is a function
_threads = ThreadPoolExecutor(max_workers=8, thread_name_prefix="job")


class StoppedError(Exception):
    """Nobody waits for this work any more."""


@dataclass(frozen=True)
class Step:
    """How far a job is; nothing is known while it waits for its turn."""

    done: int = 0
    total: int = 0
    seconds: float = 0.0
    """since its turn came"""

    @property
    def seconds_left(self) -> float | None:
        """At the pace so far; None before there is one."""
        return self.seconds / self.done * (self.total - self.done) if self.done else None


@dataclass(frozen=True)
class Done(Generic[T]):
    """What a job found."""

    result: T


class Background:
    """The running job of each visitor."""

    def __init__(self, turn: Turn):
        """Args: turn: held while a job works, so that one runs at a time."""
        self._turn = turn
        self._running: dict[str, threading.Event] = {}
        self._lock = threading.Lock()

    def stop(self, visitor: str) -> None:
        """Let go of a visitor's job, if there is one: it ends at its next report."""
        with self._lock:
            stopped = self._running.pop(visitor, None)
        if stopped:
            stopped.set()

    def run(self, visitor: str, work: Callable[[Progress], T]) -> Iterator[Step | Done[T]]:
        """How far `work` is, again and again, then what it returned; nothing more once it is stopped.

        Closing the iterator stops the work. What the work raises is raised here.
        """
        stopped = threading.Event()
        with self._lock:
            before, self._running[visitor] = self._running.get(visitor), stopped
        if before:
            before.set()
        reached = [Step()]
        job = _threads.submit(self._take_turn, work, stopped, reached)
        try:
            while not stopped.is_set():
                yield reached[0]
                if wait([job], BETWEEN_STEPS).done:
                    if not stopped.is_set():
                        yield Done(job.result())
                    return
        finally:
            stopped.set()
            job.cancel()
            with self._lock:
                if self._running.get(visitor) is stopped:
                    del self._running[visitor]

    def _take_turn(self, work: Callable[[Progress], T], stopped: threading.Event, reached: list[Step]) -> T:
        while not self._turn.acquire(timeout=BETWEEN_STEPS):
            _check(stopped)
        try:
            start = time.monotonic()

            def report(done: int, total: int) -> None:
                _check(stopped)
                reached[0] = Step(done, total, time.monotonic() - start)

            _check(stopped)
            return work(report)
        finally:
            self._turn.release()


def _check(stopped: threading.Event) -> None:
    if stopped.is_set():
        raise StoppedError
