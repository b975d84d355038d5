"""Threads for the parts of an answer that compute: few, for more would only share the same processors."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, ParamSpec, TypeVar

from vitexplorer.core.out_of_memory import explain_full_memory
from vitexplorer.service.jobs import StoppedError

P = ParamSpec("P")
T = TypeVar("T")

THREADS = 4
Wait = Callable[[Coroutine[Any, Any, Any]], Any]
"""Function that waits for a coroutine on another thread, and returns its result or raises its exception"""

_answers = ThreadPoolExecutor(THREADS, "answer")
_waiting_answers = ThreadPoolExecutor(THREADS, "waiting-answer")


async def in_thread(function: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """Call a function that computes and never waits for a job. Memory that runs out in it is a sentence."""
    return await _called(_answers, partial(function, *args, **named))


async def waiting_in_thread(function: Callable[[Wait], T]) -> T:
    """Call a function that waits for jobs in its middle, on threads of its own; others stand in line behind them.

    What it waits for is let go of when the task that awaits this is cancelled.
    """
    loop, lock, asked, ended = asyncio.get_running_loop(), threading.Lock(), [], False

    def wait(coroutine: Coroutine[Any, Any, Any]) -> Any:
        with lock:
            if ended:
                coroutine.close()
                raise StoppedError
            asked.append(asyncio.run_coroutine_threadsafe(coroutine, loop))
        return asked[-1].result()

    try:
        return await _called(_waiting_answers, partial(function, wait))
    finally:
        with lock:
            ended = True
        for one in asked:
            one.cancel()


async def _called(pool: ThreadPoolExecutor, function: Callable[[], T]) -> T:
    def call() -> T:
        with explain_full_memory():
            return function()

    return await asyncio.get_running_loop().run_in_executor(pool, copy_context().run, call)
