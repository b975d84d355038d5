"""Fair scheduler for work on what there is one of, the model above all: one job works at a time.

Visitors await their jobs without a thread. The next turn is the visitor's who had the least time (`fair_shares.py`). A
job of many passes gives way at its reports, and goes on when it is its turn again. Jobs with the same key are one job;
a job that nobody waits for any more ends at its next report or module.
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
from vitexplorer.service.jobs import (
    NOBODY,
    Job,
    Report,
    Step,
    StoppedError,
    Waiting,
    too_many,
    too_many_of_one,
    waiting,
)

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

EACH = 8
"""jobs of one visitor that may wait in one scheduler"""
ALL = 250
"""jobs that may wait in it in all"""
BEGUN = 4
"""jobs that share the turns; more wait until one of them is done, for each keeps a thread and its numbers"""
BETWEEN_LOOKS = 0.2
"""seconds after which those who wait are told what is new"""
STILL_THERE = 2.0
"""seconds after which they are told again, though nothing is: whoever has left is noticed then"""

_here = threading.local()
"""`scheduler` and `job`: what this thread works on"""


class Scheduler:
    """Turns of one kind of work."""

    def __init__(
        self,
        name: str,
        *,
        gives_way: bool = True,
        niceness: int = 0,
        prepare: Callable[[], None] = lambda: None,
    ):
        """Make a scheduler without jobs.

        Args:
            name: of the threads.
            gives_way: whether jobs give way where they report; a connection that is read from should not wait.
            niceness: how readily the system lets threads of others go first; 0 as any other.
            prepare: called on the thread of a job before it begins.
        """
        self._prepare = prepare
        self._gives_way = gives_way
        self._lock = threading.Lock()
        self._jobs: dict[Hashable, Job] = {}
        """waiting and begun"""
        self._at_work: Job | None = None
        self._shares = Shares()
        self._threads = ThreadPoolExecutor(BEGUN, name, initializer=partial(_be_nice, niceness))

    def __len__(self) -> int:
        """Count the jobs that wait or have begun."""
        return len(self._jobs)

    # -------------------------------------------------------------------------------------- those who wait

    async def cached(self, cache: BytesCache[K, T], key: K, make: Callable[[Report], T]) -> T:
        """Return what a cache has at once, or what `make` makes for it in a turn. Raises as `run`."""

        def work(report: Report) -> T:
            found = cache.get(key)  # a job that has just ended may have made it
            if found is None:
                found = make(report)
                cache.put(key, found)
            return found

        found = cache.get(key)
        return found if found is not None else await self.run((cache, key), work)

    async def run(self, key: Hashable, work: Callable[[Report], T]) -> T:
        """Return what `work` returns, on a thread in its turn; `waiting` says for whom.

        Cancelling the task lets go of the job.

        Args:
            key: whoever asks for a job of the same key while it is there waits for that one.
            work: told a `Report`; raises what is raised here.

        Raises:
            CrowdedError: so much waits already.
            StoppedError: the visitor let go of the job, or has left.
        """
        waiter, done, told, at = waiting.get(), asyncio.Event(), None, 0.0
        job = self._join(waiter, key, work)
        job.found.add_done_callback(partial(_wake, asyncio.get_running_loop(), done))
        try:
            while not job.found.done() and waiter in job.waiters:
                step, now = self._step(job), time.monotonic()
                if step != told or now - at > STILL_THERE:
                    told, at = step, now
                    await waiter.tell(step)
                with suppress(TimeoutError):
                    async with asyncio.timeout(BETWEEN_LOOKS):
                        await done.wait()
            if waiter not in job.waiters:
                raise StoppedError
            return job.found.result()
        finally:
            self._let_go(job, waiter)

    def leave(self, visitor: str, wants: str | None = None, before: int | None = None) -> None:
        """A visitor waits no more for what they wanted, or for anything; for what they asked `before` that question.

        Questions may come in another order than they were asked in.
        """
        with self._lock:
            for job in list(self._jobs.values()):
                job.waiters = [one for one in job.waiters if not _is_meant(one, visitor, wants, before)]
                self._drop_unwanted(job)

    def _join(self, waiter: Waiting, key: Hashable, work: Callable[[Report], Any]) -> Job:
        with self._lock:
            job = self._jobs.get(key)
            if job is None:
                self._check_room(waiter)
                job = self._jobs[key] = Job(key, work)
            self._shares.enter(waiter.visitor, self._there())
            job.waiters.append(waiter)
            if self._at_work is None:
                self._begin_next()
        return job

    def _check_room(self, waiter: Waiting) -> None:
        if waiter != NOBODY and sum(waiter.visitor in job.visitors for job in self._jobs.values()) >= EACH:
            raise too_many_of_one(EACH)
        if len(self._jobs) >= ALL:
            raise too_many(ALL)

    def _there(self) -> set[str]:
        return {visitor for job in self._jobs.values() for visitor in job.visitors}

    def _let_go(self, job: Job, waiter: Waiting) -> None:
        with self._lock:
            if waiter in job.waiters:
                job.waiters.remove(waiter)
            self._drop_unwanted(job)

    def _drop_unwanted(self, job: Job) -> None:
        """Work that has begun ends by itself, at its next report."""
        if not job.waiters and not job.begun and self._jobs.get(job.key) is job:
            del self._jobs[job.key]

    def _step(self, job: Job) -> Step:
        with self._lock:
            if job.begun:
                return job.reached
            order = sorted((one for one in self._jobs.values() if one is not self._at_work), key=self._had)
            return Step(place=order.index(job) + 1) if job in order else job.reached

    # -------------------------------------------------------------------------------------- those who work

    def _had(self, job: Job) -> float:
        """The least of it has the next turn; what nobody waits for goes first, to its end."""
        return self._shares.of(job.visitors)

    def _next(self) -> Job | None:
        full = sum(job.begun for job in self._jobs.values()) >= BEGUN
        return min((job for job in self._jobs.values() if job.begun or not full), key=self._had, default=None)

    def _begin_next(self) -> None:
        """Holding the lock: whoever is next has the turn."""
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
        _here.scheduler, _here.job = self, job
        try:
            self._prepare()
            found, wrong = job.work(partial(self._report, job)), None
        except BaseException as error:
            found, wrong = None, memory_full(error) or error
        _here.job = None
        with self._lock:
            self._pay(job)
            if self._jobs.get(job.key) is job:
                del self._jobs[job.key]
            self._begin_next()
        if wrong is None:
            job.found.set_result(found)
        else:
            job.found.set_exception(wrong)

    def _report(self, job: Job, done: int, total: int, doing: Text | None = None, /) -> None:
        job.reached = Step(done, total, job.seconds + time.monotonic() - job.since, doing)
        if self._gives_way:
            self._give_way(job)
        self._end_unwanted(job)

    def _end_unwanted(self, job: Job) -> None:
        with self._lock:
            if not job.waiters:
                self._jobs.pop(job.key, None)  # who asks for it from now on begins anew
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
        self._shares.pay(spent, job.visitors, self._there())


def end_unwanted() -> None:
    """Raises StoppedError where this thread works on what nobody waits for any more; a report says so too."""
    job = getattr(_here, "job", None)
    if job is not None and not job.waiters:
        _here.scheduler._end_unwanted(job)


@cache
def end_unwanted_passes() -> None:
    """From now on a pass through a model ends in the middle, before its next module, once nobody waits for it."""
    from torch.nn.modules.module import register_module_forward_pre_hook

    register_module_forward_pre_hook(lambda module, inputs: end_unwanted())


def _is_meant(one: Waiting, visitor: str, wants: str | None, before: int | None) -> bool:
    return one.visitor == visitor and wants in (None, one.wants) and (before is None or one.number < before)


def _wake(loop: asyncio.AbstractEventLoop, news: asyncio.Event, _: Future) -> None:
    with suppress(RuntimeError):  # nobody is there any more, not even the loop
        loop.call_soon_threadsafe(news.set)


def _be_nice(niceness: int) -> None:
    """This thread, and those that torch starts for it, let others go first. Linux alone counts that by the thread."""
    if niceness and sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), niceness)
