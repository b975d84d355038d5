"""The application behind a page, made once, for gradio makes one whenever a page is closed or its queue is set."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gradio.routes import App


@contextmanager
def no_app_yet() -> Iterator[None]:
    """A page that is laid out here has no application until it is mounted: none that nobody would ask."""
    create = App.create_app
    App.create_app = staticmethod(lambda *_, **__: None)
    try:
        yield
    finally:
        App.create_app = staticmethod(create)
