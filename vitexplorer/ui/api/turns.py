"""A call waits for its turn on the model like everybody on the page."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from typing import TypeVar

from gradio.context import LocalContext

from vitexplorer.ui.answers import answered
from vitexplorer.ui.jobs import Done, StoppedError, Waiter

T = TypeVar("T")


async def in_turn(make: Callable[[], T]) -> T:
    """What `make` returns or raises, asked again when all that it needs is there. Calls of one client share turns.

    Raises CrowdedError where too much waits already, StoppedError where the client has hung up.
    """
    request = LocalContext.request.get(None)
    client = request.client.host if request and request.client else ""
    hangs_up = request and LocalContext.event_id.get(None) is None  # a request that joined gradio's queue has ended
    async with aclosing(answered(Waiter(f"call from {client}"), make)) as steps:
        async for step in steps:
            if isinstance(step, Done):
                return step.result
            if hangs_up and await request.request.is_disconnected():
                break
    raise StoppedError
