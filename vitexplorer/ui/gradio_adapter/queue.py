"""Questions to gradio's queue, in which an event stands until it is answered."""

from __future__ import annotations

import gradio as gr
from gradio.context import LocalContext


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
