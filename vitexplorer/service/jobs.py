"""Jobs of a scheduler, the visitors who wait for them, and the steps that they are told of."""

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
"""A `Progress` that can also say what is being done: called with `done`, `total` (0 where unknown), perhaps a text."""


@dataclass(frozen=True)
class Step:
    """Progress of a job."""

    done: int = 0
    total: int = 0
    seconds: float = 0.0
    """of its own turns"""
    doing: Text | None = None
    """what is being done, where the work says so"""
    place: int = 0
    """in the queue, 1 for the next one; 0 once it has begun"""

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
    """Result of what was followed."""

    result: T


async def _say_nothing(step: Step) -> None:
    pass


@dataclass(frozen=True)
class Waiting:
    """A visitor who waits."""

    visitor: str
    wants: str = ""
    """for what: a visitor may let go of that alone"""
    number: int = 0
    """of their question, as their browser counts"""
    tell: Callable[[Step], Awaitable[None]] = field(default=_say_nothing, compare=False)
    """called with each new step, and again every few seconds; raises StoppedError where nobody is there any more"""


NOBODY = Waiting("")
"""a script or a test"""
waiting: ContextVar[Waiting] = ContextVar("waiting", default=NOBODY)
"""for whom jobs are asked for here: set once for each event, question or call"""


async def following(visitor: Waiting, answer: Coroutine[Any, Any, T]) -> AsyncGenerator[Step | Done[T], None]:
    """Yield the steps of all jobs that an answer awaits, then what it returned; raises what it raises.

    Closing the iterator cancels the answer, which lets go of its job.
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
    """Work, those who wait for it, and the turns it had."""

    key: Hashable
    work: Callable[[Report], Any]
    waiters: list[Waiting] = field(default_factory=list)
    found: Future = field(default_factory=Future)
    reached: Step = Step()
    turn: threading.Event = field(default_factory=threading.Event)
    """set when it is its turn again"""
    begun: bool = False
    since: float = 0.0
    """when its turn came"""
    seconds: float = 0.0
    """of its turns before this one"""

    @property
    def visitors(self) -> list[str]:
        """Visitors whose job it is; one who waits twice stands here twice."""
        return [one.visitor for one in self.waiters]


class StoppedError(Exception):
    """Raised where nobody waits for this work any more."""


class CrowdedError(ExplainedError):
    """Raised where so much waits already that more would only make all wait longer."""


def too_many_of_one(most: int) -> CrowdedError:
    """Return the error for a visitor who waits for this many things."""
    return CrowdedError(
        Text(
            "You have asked for {most} things that are still being computed. Please wait for one of them.",
            "您已有 {most} 项请求仍在计算，请等待其中一项完成。",
        ).format(most=most)
    )


def too_many(most: int) -> CrowdedError:
    """Return the error for this many things that wait in all."""
    return CrowdedError(
        Text(
            "{most} requests wait for the model already. Please try again in a minute.",
            "已有 {most} 项请求在等待模型，请稍后再试。",
        ).format(most=most)
    )
