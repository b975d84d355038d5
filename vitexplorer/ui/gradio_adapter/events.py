"""Events of the page, read without the names that gradio keeps for itself."""

from __future__ import annotations

from typing import Any

import gradio as gr


def fields_of(event: gr.EventData) -> dict[str, Any]:
    """All that a component sent with an event, by name."""
    return event._data
