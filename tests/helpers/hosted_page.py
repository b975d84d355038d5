"""The page served in this process as by `python app.py`, for tests over HTTP."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from starlette.applications import Starlette

from tests.helpers.waiting import now
from vitexplorer.core.settings import settings
from vitexplorer.service.engine import Engine
from vitexplorer.ui import application
from vitexplorer.ui.server.listening import address_of, listen, uvicorn_server


async def built() -> Starlette:
    """Make the app inside a running loop; gradio would otherwise open a loop for each of its locks."""
    return application(settings(), Engine(settings()))


@contextmanager
def hosted(**environment: str) -> Iterator[str]:
    """Serve the page with these settings and yield its address."""
    with pytest.MonkeyPatch.context() as patched:
        for name, value in environment.items():
            patched.setenv(name, value)
        settings.cache_clear()
        opened = threading.Event()
        with listen(settings()) as listening:
            serving = uvicorn_server(now(built()), settings(), opened.set)
            thread = threading.Thread(target=serving.run, kwargs={"sockets": [listening]})
            thread.start()
            try:
                assert opened.wait(60)
                yield address_of(listening)
            finally:  # a server that is left would keep the process from its end
                serving.should_exit = True
                thread.join()
    settings.cache_clear()
