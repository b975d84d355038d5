"""Mount the gradio page in our own application, with the settings that only gradio's `launch` makes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr
from starlette.applications import Starlette

from vitexplorer.ui.gradio_adapter.page_sessions import Visitors

EVENTS = 512
"""Events that may run at once; they wait in our own queue, which reports positions and refuses when it is full"""
ASSETS = Path(gr.__file__).parent / "templates" / "frontend" / "assets"
"""Folder of gradio's scripts, styles and fonts, which `static_responses` serves"""


def mount(app: Starlette, page: gr.Blocks, visitors: Visitors, **options: Any) -> None:
    """Serve `page` for all paths without a route in `app`; options are those of `gr.mount_gradio_app`."""
    page.max_threads = EVENTS
    page.queue(api_open=False, max_size=EVENTS)
    page.has_launched = True  # or gradio would take any file of the machine for one that a visitor sent
    gr.mount_gradio_app(app, page, path="", **options)
    page.app = app.routes[-1].app
    page.app.state_holder = page.state_holder = visitors
