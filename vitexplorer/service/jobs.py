"""Jobs of a scheduler, the visitors who wait for them, and the steps that report their progress."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Hashable
from concurrent.futures import Future
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from vitexplorer.core.text import ExplainedError, Text

T = TypeVar("T")

Report = Callable[..., None]
"""A `Progress` that can also describe the work: called with `done`, `total` (0 if unknown), perhaps a text."""


@dataclass(frozen=True)
class Step:
    """Progress of a job."""

    done: int = 0
    total: int = 0
    seconds: float = 0.0
    """Seconds of the job's own turns"""
    doing: Text | None = None
    """Description of the current work, if it gives one"""
    place: int = 0
    """Place in the queue, 1 for the next job; 0 once it has begun"""

    @property
    def share(self) -> float | None:
        """Share of the work that is done, 0-1; None if the total is unknown."""
        return self.done / self.total if self.total else None

    @property
    def seconds_left(self) -> float | None:
        """Seconds left at the pace so far; None before anything is done."""
        return self.seconds / self.done * (self.total - self.done) if self.done else None


@dataclass(frozen=True)
class Done(Generic[T]):
    """Result of the followed answer."""

    result: T


async def _ignore(step: Step) -> None:
    pass


@dataclass(frozen=True)
class Waiting:
    """A visitor who waits."""

    visitor: str
    wants: str = ""
    """Purpose of the job; a visitor may let go of one purpose alone"""
    number: int = 0
    """Number of the visitor's question, as their browser counts"""
    tell: Callable[[Step], Awaitable[None]] = field(default=_ignore, compare=False)
    """Called with each new step, and again every few seconds; raises StoppedError if the visitor has left"""


NOBODY = Waiting("")
"""Waiter of a script or a test"""
waiting: ContextVar[Waiting] = ContextVar("waiting", default=NOBODY)
"""Visitor for whom jobs run in this context: set once for each event, question or call"""


async def following(visitor: Waiting, answer: Coroutine[Any, Any, T]) -> AsyncGenerator[Step | Done[T], None]:
    """Yield the steps of all jobs that an answer awaits, then its result.

    Closing the iterator cancels the answer, which lets go of its job. Exceptions of the answer are raised here.
    """
    news, latest = asyncio.Event(), list[Step]()

    async def tell(step: Step) -> None:
        latest[:] = [step]
        news.set()

    context = copy_context()
    context.run(waiting.set, replace(visitor, tell=tell))
    task = asyncio.create_task(answer, context=context)
    task.add_done_callback(lambda _: news.set())
    try:
        while not task.done():
            await news.wait()
            news.clear()
            if latest and not task.done():
                yield latest.pop()
        yield Done(task.result())
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@dataclass(eq=False)
class Job:
    """Work, its waiting visitors, and its turns."""

    key: Hashable
    work: Callable[[Report], Any]
    waiters: list[Waiting] = field(default_factory=list)
    outcome: Future = field(default_factory=Future)
    last_step: Step = Step()
    turn: threading.Event = field(default_factory=threading.Event)
    """Set when it is the job's turn again"""
    begun: bool = False
    since: float = 0.0
    """Time at which its turn began"""
    seconds: float = 0.0
    """Seconds of its earlier turns"""

    @property
    def visitors(self) -> list[str]:
        """Visitors of this job; a visitor who waits twice appears twice."""
        return [waiter.visitor for waiter in self.waiters]


class StoppedError(Exception):
    """Raised if nobody waits for this work any more."""


class CrowdedError(ExplainedError):
    """Raised if too many jobs wait already."""
