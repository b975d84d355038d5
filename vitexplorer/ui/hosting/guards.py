"""What every request passes on its way to the page, from the outside to the inside."""

from __future__ import annotations

from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from vitexplorer.settings import Settings
from vitexplorer.ui.hosting.doors import ShutDoors
from vitexplorer.ui.hosting.headers import SafeHeaders
from vitexplorer.ui.hosting.hosts import KnownHosts, listed


def guards(settings: Settings) -> list[Middleware]:
    """In order. Where there is a CORSMiddleware gradio leaves its own out, which allows every origin."""
    return [
        Middleware(SafeHeaders),
        Middleware(KnownHosts, settings=settings),
        Middleware(ShutDoors),
        Middleware(
            CORSMiddleware,
            allow_origins=listed(settings.origins),
            allow_methods=["GET", "POST"],
            allow_headers=["content-type"],
        ),
    ]
