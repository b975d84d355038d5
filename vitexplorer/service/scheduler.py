"""Turns at what there is one of, the model above all: work waits for its turn without a thread; one works at a time.

The next turn is the visitor's who had the least time (`shares.py`). A job of many passes gives way wherever it says how
far it is, and goes on when it is its turn again. What several ask for alike is done once; what nobody waits for any
more ends at its next word or module.

A function of the page that finds that something is not there raises `NotYetError`, which says how it is made and in
whose turn: it is called again when it is there (`answers.py`), and holds nothing until then.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import AsyncGenerator, Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import aclosing, suppress
from contextvars import ContextVar
from functools import cache, partial
from typing import Any, TypeVar

from vitexplorer.core.cache import BytesCache
from vitexplorer.core.out_of_memory import memory_full
from vitexplorer.core.text import Text
from vitexplorer.service.fair_shares import Shares
from vitexplorer.service.work import NOBODY, Done, Job, Report, Step, StoppedError, Waiter, too_many, too_many_of_one

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

EACH = 8
"""jobs of one visitor that may wait for turns of one kind"""
ALL = 250
"""jobs that may wait for them in all"""
BEGUN = 4
"""jobs that share the turns; more wait until one of them is done, for each keeps a thread and its numbers"""
BETWEEN_LOOKS = 0.2
"""seconds after which those who wait are told what is new"""
STILL_THERE = 2.0
"""seconds after which they are told again, though nothing is: whoever has left is noticed then"""

wrong: ContextVar[dict[Hashable, Exception] | None] = ContextVar("wrong", default=None)
"""what went wrong with what an answer to a browser needs, by turns and key; None where it is not asked by one"""
_here = threading.local()
"""`turns` and `job`: what this thread works on"""


class NotYetError(Exception):
    """What an answer needs is not there; whoever waits for `turns` to make it may ask again."""

    def __init__(self, turns: Turns, key: Hashable, work: Callable[[Report], Any]):
        """Args: as for `Turns.steps`."""
        super().__init__(f"{key} is still to be made")
        self.turns, self.key, self.work = turns, key, work

    async def steps(self, waiter: Waiter) -> AsyncGenerator[Step, None]:
        """How far it is until it is there. Raises as `Turns.steps`."""
        async with aclosing(self.turns.steps(waiter, self.key, self.work)) as steps:
            async for step in steps:
                if isinstance(step, Step):
                    yield step


class Turns:
    """Turns of one kind."""

    def __init__(
        self,
        name: str,
        *,
        gives_way: bool = True,
        niceness: int = 0,
        prepare: Callable[[], None] = lambda: None,
    ):
        """What is special about them.

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
        """Jobs that wait or have begun."""
        return len(self._jobs)

    # -------------------------------------------------------------------------------------- those who wait

    def kept(self, cache: BytesCache[K, T], key: K, make: Callable[[Report], T]) -> T:
        """What a cache has, or what `make` makes for it in a turn. Raises as `need`."""

        def work(report: Report) -> T:
            found = cache.get(key)  # one who asked before may have had it made
            if found is None:
                found = make(report)
                cache.put(key, found)
            return found

        found = cache.get(key)
        return found if found is not None else self.need((cache, key), work)

    def need(self, key: Hashable, work: Callable[[Report], T]) -> T:
        """What `work` makes, and leaves where the next one finds it: at once in a job of these turns.

        Raises NotYetError in an answer of the page and in jobs of other turns, and in an answer that is asked again
        what went wrong. Anybody else waits.
        """
        turns = getattr(_here, "turns", None)
        if turns is self:
            return work(partial(self._report, _here.job))
        went_wrong = wrong.get()
        if turns is None and went_wrong is None:
            return self._now(key, work)
        raise (went_wrong or {}).get((self, key)) or NotYetError(self, key, work)

    def _now(self, key: Hashable, work: Callable[[Report], T]) -> T:
        while True:
            job = self._join(NOBODY, key, work)
            try:
                return job.found.result()
            except NotYetError as error:
                missing = error
            finally:
                self._let_go(job, NOBODY)
            missing.turns._now(missing.key, missing.work)

    async def steps(
        self, waiter: Waiter, key: Hashable, work: Callable[[Report], T]
    ) -> AsyncGenerator[Step | Done[T], None]:
        """How far `work` is, and what it finds missing, whenever that is news; then what it returned.

        What it raises is raised here. Closing the iterator lets go of the work.

        Args:
            waiter: who waits.
            key: of the work; whoever asks for what is being done already waits for that.
            work: done on a thread in its turn.

        Raises CrowdedError where too much waits already, StoppedError where the visitor let go of it.
        """
        while True:
            try:
                async with aclosing(self._steps(waiter, key, work)) as steps:
                    async for step in steps:
                        yield step
                return
            except NotYetError as error:
                missing = error
            async with aclosing(missing.steps(waiter)) as steps:
                async for step in steps:
                    yield step

    async def _steps(
        self, waiter: Waiter, key: Hashable, work: Callable[[Report], T]
    ) -> AsyncGenerator[Step | Done[T], None]:
        job, news, told, at = self._join(waiter, key, work), asyncio.Event(), None, 0.0
        job.found.add_done_callback(partial(_wake, asyncio.get_running_loop(), news))
        try:
            while not job.found.done() and waiter in job.waiters:
                step, now = self._step(job), time.monotonic()
                if step != told or now - at > STILL_THERE:
                    told, at = step, now
                    yield step
                with suppress(TimeoutError):
                    async with asyncio.timeout(BETWEEN_LOOKS):
                        await news.wait()
            if waiter not in job.waiters:
                raise StoppedError
            yield Done(job.found.result())
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

    def _join(self, waiter: Waiter, key: Hashable, work: Callable[[Report], Any]) -> Job:
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

    def _check_room(self, waiter: Waiter) -> None:
        if waiter != NOBODY and sum(waiter.visitor in job.visitors for job in self._jobs.values()) >= EACH:
            raise too_many_of_one(EACH)
        if len(self._jobs) >= ALL:
            raise too_many(ALL)

    def _there(self) -> set[str]:
        return {visitor for job in self._jobs.values() for visitor in job.visitors}

    def _let_go(self, job: Job, waiter: Waiter) -> None:
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
        _here.turns, _here.job = self, job
        try:
            self._prepare()
            found, wrong = job.work(partial(self._report, job)), None
        except BaseException as error:
            found, wrong = None, memory_full(error) or error
        _here.turns = _here.job = None
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
        _here.turns._end_unwanted(job)


@cache
def end_unwanted_passes() -> None:
    """From now on a pass through a model ends in the middle, before its next module, once nobody waits for it."""
    from torch.nn.modules.module import register_module_forward_pre_hook

    register_module_forward_pre_hook(lambda module, inputs: end_unwanted())


def _is_meant(one: Waiter, visitor: str, wants: str | None, before: int | None) -> bool:
    return one.visitor == visitor and wants in (None, one.wants) and (before is None or one.number < before)


def _wake(loop: asyncio.AbstractEventLoop, news: asyncio.Event, _: Future) -> None:
    with suppress(RuntimeError):  # nobody is there any more, not even the loop
        loop.call_soon_threadsafe(news.set)


def _be_nice(niceness: int) -> None:
    """This thread, and those that torch starts for it, let others go first. Linux alone counts that by the thread."""
    if niceness and sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), niceness)
