"""Runners of coroutines and of threads, and waits for what others do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any, TypeVar

T = TypeVar("T")


def now(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a thread and loop of its own, since Playwright's loop may be running in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def until(condition: Callable[[], object]) -> None:
    """Wait for something that another thread or process does."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def at_once(*calls: Callable[[], T]) -> list[T]:
    """Make calls that begin together, each on a thread of its own, and return their results."""
    barrier = Barrier(len(calls))

    def begin(call: Callable[[], T]) -> T:
        barrier.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(begin, calls))
