"""What one who waits and the thread that works know of each other: who, how far, and why there is no result."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Callable, Hashable
from concurrent.futures import Future
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from vitexplorer.core.text import ExplainedError, Text

T = TypeVar("T")

Report = Callable[..., None]
"""A `Progress` that can also say what is being done: called with `done`, `total` (0 where unknown), perhaps a text."""


class Waiter(NamedTuple):
    """Who waits."""

    visitor: str
    wants: str = ""
    """for what: a visitor may let go of that alone"""
    number: int = 0
    """of their question, as their browser counts"""


NOBODY = Waiter("")
"""a script or a test"""


@dataclass(frozen=True)
class Step:
    """How far a job is."""

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
    """What a job found."""

    result: T


@dataclass(eq=False)
class Job:
    """Work, those who wait for it, and the turns it had."""

    key: Hashable
    work: Callable[[Report], Any]
    waiters: list[Waiter] = field(default_factory=list)
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
        """Whose job it is; one who waits twice stands here twice."""
        return [one.visitor for one in self.waiters]


class StoppedError(Exception):
    """Nobody waits for this work any more."""


class CrowdedError(ExplainedError):
    """So much waits already that more would only make all wait longer."""


def too_many_of_one(most: int) -> CrowdedError:
    """A visitor waits for this many things."""
    return CrowdedError(
        Text(
            "You have asked for {most} things that are still being computed. Please wait for one of them.",
            "您已有 {most} 项请求仍在计算，请等待其中一项完成。",
        ).format(most=most)
    )


def too_many(most: int) -> CrowdedError:
    """This many things wait in all."""
    return CrowdedError(
        Text(
            "{most} requests wait for the model already. Please try again in a minute.",
            "已有 {most} 项请求在等待模型，请稍后再试。",
        ).format(most=most)
    )


async def result(steps: AsyncGenerator[Step | Done[T], None]) -> T:
    """Return what the last of the steps found; raises StoppedError where there was none."""
    async with aclosing(steps):
        async for step in steps:
            if isinstance(step, Done):
                return step.result
    raise StoppedError
