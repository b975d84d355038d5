"""Metrics of the page's events and API calls, measured in `process_api`, through which gradio answers all of them."""

from __future__ import annotations

import time
from typing import Any

import gradio as gr

from vitexplorer.ui.gradio_adapter.events import events_of
from vitexplorer.ui.gradio_adapter.types import BlockFunction
from vitexplorer.ui.server.metrics.lines import Lines
from vitexplorer.ui.server.metrics.measures import Measures


def watch_events(page: gr.Blocks, measures: Measures, lines: Lines) -> None:
    """Measure and log every event of `page`; each step of a streaming event counts as one."""
    process = page.process_api

    async def measured(block_fn: BlockFunction | int, *args: Any, **kwargs: Any) -> dict[str, Any]:
        began = time.monotonic()
        outcome = "failed"
        try:
            answer = await process(block_fn, *args, **kwargs)
            outcome = "answered"
            return answer
        except gr.Error:
            outcome = "refused"
            raise
        finally:
            seconds = time.monotonic() - began
            event = name_of(page, block_fn)
            measures.events.labels(event=event, outcome=outcome).observe(seconds)
            lines.tell("event", event=event, outcome=outcome, seconds=seconds)

    page.process_api = measured


def name_of(page: gr.Blocks, event: BlockFunction | int) -> str:
    """Return the name of an event's function with its class, such as `RoomFigures.answer`."""
    function = events_of(page)[event] if isinstance(event, int) else event
    return getattr(function.fn, "__qualname__", "other")
