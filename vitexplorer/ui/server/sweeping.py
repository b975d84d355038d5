"""What is done again and again while the server runs, beside the visitors."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

from starlette.applications import Starlette

EVERY = 60.0
"""seconds"""
_log = logging.getLogger(__name__)


def swept(
    *sweeps: Callable[[], None], at_end: Callable[[], None]
) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    """A lifespan that calls each of them once before it begins, and then every minute on a thread; `at_end` once."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await asyncio.to_thread(_run, sweeps)
        again = asyncio.create_task(_again(sweeps))
        yield
        again.cancel()
        with suppress(asyncio.CancelledError):
            await again
        at_end()

    return lifespan


async def _again(sweeps: tuple[Callable[[], None], ...]) -> None:
    while True:
        await asyncio.sleep(EVERY)
        await asyncio.to_thread(_run, sweeps)


def _run(sweeps: tuple[Callable[[], None], ...]) -> None:
    for sweep in sweeps:
        try:
            sweep()
        except Exception:  # a folder that cannot be read today must not stay unswept for ever
            _log.exception("Could not sweep")
