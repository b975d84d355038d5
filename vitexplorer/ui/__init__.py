"""The page: the only place that knows gradio. Importing it loads neither torch nor timm."""

from __future__ import annotations

import gc
import os
import threading

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # nothing leaves the machine

import gradio as gr

from vitexplorer.settings import ASSETS, Settings
from vitexplorer.ui.engine import Engine
from vitexplorer.ui.intake import PICTURE
from vitexplorer.ui.page import build_page
from vitexplorer.ui.static_files import SERVING
from vitexplorer.ui.theme import theme


def launch(settings: Settings) -> tuple[gr.Blocks, str]:
    """Start serving and return at once, with the address; the engine warms up behind the open page."""
    gr.set_static_paths([ASSETS / "examples"])
    engine = Engine(settings)
    engine.places.sweep()
    page, translations = build_page(settings, engine)
    page.queue(max_size=64, api_open=False)
    _, url, _ = page.launch(
        server_name=settings.host,
        server_port=settings.port or None,
        prevent_thread_lock=True,
        quiet=True,
        i18n=translations.i18n,
        theme=theme(),
        footer_links=[],
        run_history=False,
        enable_monitoring=False,
        ssr_mode=False,
        show_error=False,
        max_file_size=f"{settings.max_upload_megabytes}mb",
        state_session_capacity=settings.sessions,
        app_kwargs={**SERVING, "routes": [*SERVING["routes"], PICTURE]},
    )
    gc.freeze()  # what has been loaded stays to the end, and need not be looked through again
    gc.enable()
    threading.Thread(target=engine.warm, name="warm-up", daemon=True).start()
    return page, url


def serve(settings: Settings) -> None:
    """Serve until the process is stopped."""
    page, url = launch(settings)
    print(f"ViT Explorer: {url}")
    page.block_thread()
