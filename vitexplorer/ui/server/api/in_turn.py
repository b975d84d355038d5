"""A call waits for its turn on the model like everybody on the page."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from typing import TypeVar

from gradio.context import LocalContext

from vitexplorer.service.work import Done, StoppedError, Waiter
from vitexplorer.ui.gradio_adapter.page_blocks import answered
from vitexplorer.ui.gradio_adapter.statuses import has_hung_up

T = TypeVar("T")


async def in_turn(make: Callable[[], T]) -> T:
    """What `make` returns or raises, asked again when all that it needs is there. Calls of one client share turns.

    Raises CrowdedError where too much waits already, StoppedError where the client has hung up.
    """
    request = LocalContext.request.get(None)
    client = request.client.host if request and request.client else ""
    async with aclosing(answered(Waiter(f"call from {client}"), make)) as steps:
        async for step in steps:
            if isinstance(step, Done):
                return step.result
            if _is_unheard() or (request and await has_hung_up(request.request)):
                break
    raise StoppedError


def _is_unheard() -> bool:
    """Whether a call that is answered by a stream of gradio's queue has lost the client who followed it."""
    page = LocalContext.blocks.get(None)
    event = page and page._queue.event_ids_to_events.get(LocalContext.event_id.get(None))
    return bool(event) and not event.alive
