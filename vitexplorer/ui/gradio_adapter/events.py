"""Access to the page's events: their bindings, fields, files, and state in gradio's queue."""

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
    """Return an event of a widget for `gr.on`, or raise AttributeError if the widget does not send it.

    `gr.on` binds several events to one function; each binding is part of every page's configuration.
    """
    if event not in widget.sends:
        raise AttributeError(f"{type(widget).__name__} sends {', '.join(widget.sends)}, not {event}.")
    listener = EventListener(event_name=event)
    listener.__self__ = widget
    return listener


def fields_of(event: gr.EventData) -> dict[str, Any]:
    """Return all fields that a component sent with an event, by name."""
    return event._data


def events_of(page: gr.Blocks) -> dict[int, BlockFunction]:
    """Return the events of a page by the number that browsers use."""
    return page.fns


def check_files(fields: Any) -> None:
    """Raise gr.Error if the fields of an event name a file that was not sent here."""
    check_all_files_in_cache(fields)


async def files_sent(request: Request, folder: Path) -> list[str]:
    """Write the files of a form into `folder` and return their paths; `body_limits` has checked their size."""
    files, _, _ = await upload_fn(request, folder, math.inf, upload_id=None)
    return [str(file) for file in files]


def is_asked(page: gr.Blocks, event: str) -> bool:
    """Return True for an event that waits, runs, or has an answer not yet fetched."""
    queue = page._queue
    return event in queue.event_ids_to_events or any(event in ids for ids in queue.pending_event_ids_session.values())


def is_followed(page: gr.Blocks, session: str) -> bool:
    """Return True if a session has a stream of answers."""
    return session in page._queue.pending_messages_per_session


def current_request() -> gr.Request | None:
    """Return the request of the running event."""
    return LocalContext.request.get(None)


def is_unheard() -> bool:
    """Return True if the client that followed the running event by a stream of the queue has gone."""
    page = LocalContext.blocks.get(None)
    event = page and page._queue.event_ids_to_events.get(LocalContext.event_id.get(None))
    return bool(event) and not event.alive
