"""Periodic cleanup while the server runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

from starlette.applications import Starlette

EVERY = 60.0
"""Seconds between sweeps"""
_log = logging.getLogger(__name__)


def swept(
    *sweeps: Callable[[], None], at_end: Callable[[], None]
) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    """Return a lifespan that calls the sweeps at its start and then every minute, on a thread, and `at_end` once."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await asyncio.to_thread(_run, sweeps)
        task = asyncio.create_task(_repeat(sweeps))
        yield
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        at_end()

    return lifespan


async def _repeat(sweeps: tuple[Callable[[], None], ...]) -> None:
    while True:
        await asyncio.sleep(EVERY)
        await asyncio.to_thread(_run, sweeps)


def _run(sweeps: tuple[Callable[[], None], ...]) -> None:
    for sweep in sweeps:
        try:
            sweep()
        except Exception:  # an unreadable folder must not end the loop
            _log.exception("Could not sweep")
