"""Events of the page: bound, looked up and read."""

from __future__ import annotations

from typing import Any

import gradio as gr
from gradio.events import EventListener
from gradio.processing_utils import check_all_files_in_cache

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
