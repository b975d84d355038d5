"""Events of the page: bound, looked up, read with the files they bring, followed in the queue until answered."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.context import LocalContext
from gradio.events import EventListener
from gradio.processing_utils import check_all_files_in_cache
from gradio.route_utils import upload_fn
from starlette.requests import Request

from vitexplorer.ui.gradio_adapter.types import BlockFunction
from vitexplorer.ui.kit.widget import Widget


def sent(widget: Widget, event: str) -> EventListener:
    """An event of a widget for `gr.on`, by which several bind one function: each binding travels with every page.

    Raises AttributeError for one that the widget does not send.
    """
    if event not in widget.sends:
        raise AttributeError(f"{type(widget).__name__} sends {', '.join(widget.sends)}, not {event}.")
    listener = EventListener(event_name=event)
    listener.__self__ = widget
    return listener


def fields_of(event: gr.EventData) -> dict[str, Any]:
    """All that a component sent with an event, by name."""
    return event._data


def events_of(page: gr.Blocks) -> dict[int, BlockFunction]:
    """Every event of the page, by the number that a browser calls it by."""
    return page.fns


def check_files(fields: Any) -> None:
    """Raises gr.Error where what an event brings names a file that was not sent here."""
    check_all_files_in_cache(fields)


async def files_sent(request: Request, folder: Path) -> list[str]:
    """Paths of the files of a form, written into `folder`; their size has been checked before, see `body_limits`."""
    files, _, _ = await upload_fn(request, folder, math.inf, upload_id=None)
    return [str(file) for file in files]


def is_asked(page: gr.Blocks, event: str) -> bool:
    """Whether an event of this name waits, is being answered, or has an answer that nobody has fetched."""
    queue = page._queue
    return event in queue.event_ids_to_events or any(event in ids for ids in queue.pending_event_ids_session.values())


def is_followed(page: gr.Blocks, session: str) -> bool:
    """Whether there is a stream of answers for a session."""
    return session in page._queue.pending_messages_per_session


def current_request() -> gr.Request | None:
    """The request that asked for what runs here."""
    return LocalContext.request.get(None)


def is_unheard() -> bool:
    """Whether the client who followed the answer to what runs here, by a stream of the queue, has gone."""
    page = LocalContext.blocks.get(None)
    event = page and page._queue.event_ids_to_events.get(LocalContext.event_id.get(None))
    return bool(event) and not event.alive
