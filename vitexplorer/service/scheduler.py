"""Fair scheduler for work on the one model worker: one job works at a time.

Visitors await their jobs without a thread. The next turn goes to the visitor with the least time so far
(`fair_shares.py`). A job of many passes gives way after each, and continues at its next turn. Jobs with the same
key are one job. A job without waiting visitors ends at its next report or module.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
from typing import Any, TypeVar

from vitexplorer.core.cache import BytesCache
from vitexplorer.core.out_of_memory import memory_full
from vitexplorer.core.text import Text
from vitexplorer.service.fair_shares import Shares
from vitexplorer.service.jobs import NOBODY, CrowdedError, Job, Report, Step, StoppedError, Waiting, waiting

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

EACH = 8
"""Most jobs of one visitor that may wait in one scheduler"""
ALL = 250
"""Most jobs that may wait in one scheduler"""
BEGUN = 4
"""Most jobs that share the turns, because each keeps a thread and its tensors; the others wait for one to end"""
BETWEEN_LOOKS = 0.2
"""Seconds between checks for new steps of a job"""
STILL_THERE = 2.0
"""Seconds after which the last step is sent again, so that a visitor who has left is noticed"""
_MANY_OF_ONE = Text(
    "You have asked for {most} things that are still being computed. Please wait for one of them.",
    "您已有 {most} 项请求仍在计算，请等待其中一项完成。",
)
_MANY = Text(
    "{most} requests wait for the model already. Please try again in a minute.",
    "已有 {most} 项请求在等待模型，请稍后再试。",
)

_current = threading.local()
"""Current `scheduler` and `job` of this thread"""


class Scheduler:
    """Scheduler of one kind of work."""

    def __init__(
        self, name: str, *, gives_way: bool = True, niceness: int = 0, prepare: Callable[[], None] = lambda: None
    ):
        """Make a scheduler without jobs.

        Args:
            name: prefix of the names of its threads.
            gives_way: True if jobs give way when they report a step of several; a download should not wait.
            niceness: priority of its threads for the system; 0 is normal, more is lower.
            prepare: called on the thread of a job before it begins.
        """
        self._prepare = prepare
        self._gives_way = gives_way
        self._lock = threading.Lock()
        self._jobs: dict[Hashable, Job] = {}
        """Jobs that wait or have begun, by key"""
        self._at_work: Job | None = None
        self._shares = Shares()
        self._threads = ThreadPoolExecutor(BEGUN, name, initializer=partial(_lower_priority, niceness))

    def __len__(self) -> int:
        """Count the jobs that wait or have begun."""
        return len(self._jobs)

    # -------------------------------------------------------------------------------------- waiting visitors

    async def cached(self, cache: BytesCache[K, T], key: K, make: Callable[[Report], T]) -> T:
        """Return a cached value at once, or make it with `make` as a job, see `run`, and cache it."""

        def work(report: Report) -> T:
            return cache.get_or_make(key, lambda: make(report))  # a job that has just ended may have made it

        value = cache.get(key)
        return value if value is not None else await self.run((cache, key), work)

    async def run(self, key: Hashable, work: Callable[[Report], T]) -> T:
        """Run `work` on a thread in its turn, for the visitor in `waiting`, and return its result.

        Cancelling the task lets go of the job. Exceptions of `work` are raised here.

        Args:
            key: identity of the job; a second visitor with the same key waits for the same job.
            work: called with a `Report`.

        Raises:
            CrowdedError: too many jobs wait.
            StoppedError: the visitor let go of the job, or has left.
        """
        waiter = waiting.get()
        done = asyncio.Event()
        last_step, sent_at = None, 0.0
        job = self._join(waiter, key, work)
        job.outcome.add_done_callback(partial(_wake, asyncio.get_running_loop(), done))
        try:
            while not job.outcome.done() and waiter in job.waiters:
                step, now = self._step(job), time.monotonic()
                if step != last_step or now - sent_at > STILL_THERE:
                    last_step, sent_at = step, now
                    await waiter.tell(step)
                with suppress(TimeoutError):
                    async with asyncio.timeout(BETWEEN_LOOKS):
                        await done.wait()
            if waiter not in job.waiters:
                raise StoppedError
            return job.outcome.result()
        finally:
            self._let_go(job, waiter)

    def leave(self, visitor: str, wants: str | None = None, before: int | None = None) -> None:
        """Let go of a visitor's jobs: all, those with the purpose `wants`, or those of questions `before` a number.

        Questions may arrive out of order, so they are compared by number.
        """
        with self._lock:
            for job in list(self._jobs.values()):
                job.waiters = [waiter for waiter in job.waiters if not _matches(waiter, visitor, wants, before)]
                self._drop_unwanted(job)

    def _join(self, waiter: Waiting, key: Hashable, work: Callable[[Report], Any]) -> Job:
        with self._lock:
            job = self._jobs.get(key)
            if job is None:
                self._check_room(waiter)
                job = self._jobs[key] = Job(key, work)
            self._shares.enter(waiter.visitor, self._present())
            job.waiters.append(waiter)
            if self._at_work is None:
                self._begin_next()
        return job

    def _check_room(self, waiter: Waiting) -> None:
        if waiter != NOBODY and sum(waiter.visitor in job.visitors for job in self._jobs.values()) >= EACH:
            raise CrowdedError(_MANY_OF_ONE.format(most=EACH))
        if len(self._jobs) >= ALL:
            raise CrowdedError(_MANY.format(most=ALL))

    def _present(self) -> set[str]:
        return {visitor for job in self._jobs.values() for visitor in job.visitors}

    def _let_go(self, job: Job, waiter: Waiting) -> None:
        with self._lock:
            if waiter in job.waiters:
                job.waiters.remove(waiter)
            self._drop_unwanted(job)

    def _drop_unwanted(self, job: Job) -> None:
        """Remove a job that nobody waits for and that has not begun; a begun job ends at its next report."""
        if not job.waiters and not job.begun and self._jobs.get(job.key) is job:
            del self._jobs[job.key]

    def _step(self, job: Job) -> Step:
        with self._lock:
            if job.begun:
                return job.last_step
            order = sorted((other for other in self._jobs.values() if other is not self._at_work), key=self._rank)
            return Step(place=order.index(job) + 1) if job in order else job.last_step

    # -------------------------------------------------------------------------------------- working threads

    def _rank(self, job: Job) -> float:
        """Return the time of the job's visitors, its rank for the next turn; jobs without visitors go first, to end."""
        return self._shares.of(job.visitors)

    def _next(self) -> Job | None:
        full = sum(job.begun for job in self._jobs.values()) >= BEGUN
        return min((job for job in self._jobs.values() if job.begun or not full), key=self._rank, default=None)

    def _begin_next(self) -> None:
        """Give the turn to the next job. The caller holds the lock."""
        job = self._at_work = self._next()
        if job is None:
            return
        job.since = time.monotonic()
        if job.begun:
            job.turn.set()
        else:
            job.begun = True
            self._threads.submit(self._work, job)

    def _work(self, job: Job) -> None:
        _current.scheduler, _current.job = self, job
        try:
            self._prepare()
            result, failure = job.work(partial(self._report, job)), None
        except BaseException as error:
            result, failure = None, memory_full(error) or error
        _current.job = None
        with self._lock:
            self._pay(job)
            if self._jobs.get(job.key) is job:
                del self._jobs[job.key]
            self._begin_next()
        if failure is None:
            job.outcome.set_result(result)
        else:
            job.outcome.set_exception(failure)

    def _report(self, job: Job, done: int, total: int, doing: Text | None = None, /) -> None:
        job.last_step = Step(done, total, job.seconds + time.monotonic() - job.since, doing)
        if self._gives_way and total:
            self._give_way(job)
        self._end_unwanted(job)

    def _end_unwanted(self, job: Job) -> None:
        with self._lock:
            if not job.waiters:
                self._jobs.pop(job.key, None)  # a later request for the key starts a new job
                raise StoppedError

    def _give_way(self, job: Job) -> None:
        with self._lock:
            self._pay(job)
            if self._next() is job:
                return
            job.turn.clear()
            self._begin_next()
        job.turn.wait()

    def _pay(self, job: Job) -> None:
        now = time.monotonic()
        spent, job.since = now - job.since, now
        job.seconds += spent
        self._shares.pay(spent, job.visitors, self._present())


def end_unwanted() -> None:
    """End this thread's work by StoppedError if nobody waits for it any more; reports do so too."""
    job = getattr(_current, "job", None)
    if job is not None and not job.waiters:
        _current.scheduler._end_unwanted(job)


@cache
def end_unwanted_passes() -> None:
    """Let unwanted passes through models end early: from now on every module checks before it runs."""
    from torch.nn.modules.module import register_module_forward_pre_hook

    register_module_forward_pre_hook(lambda module, inputs: end_unwanted())


def _matches(waiter: Waiting, visitor: str, wants: str | None, before: int | None) -> bool:
    return waiter.visitor == visitor and wants in (None, waiter.wants) and (before is None or waiter.number < before)


def _wake(loop: asyncio.AbstractEventLoop, news: asyncio.Event, _: Future) -> None:
    with suppress(RuntimeError):  # the loop is closed
        loop.call_soon_threadsafe(news.set)


def _lower_priority(niceness: int) -> None:
    """Lower the priority of this thread and of torch's threads started by it; only Linux has it per thread."""
    if niceness and sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), niceness)
