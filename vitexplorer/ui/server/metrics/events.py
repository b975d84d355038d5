"""Every event of the page and every call of a script, measured at the one place that gradio answers all of them."""

from __future__ import annotations

import time
from typing import Any

import gradio as gr

from vitexplorer.ui.gradio_adapter.events import events_of
from vitexplorer.ui.gradio_adapter.types import BlockFunction
from vitexplorer.ui.server.metrics.lines import Lines
from vitexplorer.ui.server.metrics.measures import Measures


def watch_events(page: gr.Blocks, measures: Measures, lines: Lines) -> None:
    """Let every event of `page` be told; one that answers step by step counts each of them."""
    process = page.process_api

    async def watched(block_fn: BlockFunction | int, *given: Any, **named: Any) -> dict[str, Any]:
        began, outcome = time.monotonic(), "failed"
        try:
            answer = await process(block_fn, *given, **named)
            outcome = "answered"
            return answer
        except gr.Error:
            outcome = "refused"
            raise
        finally:
            seconds, event = time.monotonic() - began, name_of(page, block_fn)
            measures.events.labels(event=event, outcome=outcome).observe(seconds)
            lines.tell("event", event=event, outcome=outcome, seconds=seconds)

    page.process_api = watched


def name_of(page: gr.Blocks, event: BlockFunction | int) -> str:
    """The function's name with its class, `RoomFigures.answer`."""
    function = events_of(page)[event] if isinstance(event, int) else event
    return getattr(function.fn, "__qualname__", "other")
