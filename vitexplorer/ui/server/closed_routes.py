"""Addresses of gradio's that nothing here uses are not there.

They write files (deep links), fetch what a visitor names from elsewhere, take recordings, look into components, or
belong to its development. What is open is listed, so that a new version opens nothing unseen.
"""

from __future__ import annotations

import re

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_OPEN = re.compile(
    r"/gradio_api/(?:run|call|queue|upload|cancel|reset|heartbeat|info|openapi\.json|startup-events|mcp"
    r"|file=(?!(?i:https?:))[^/]*|app_id|theme\.css)(?:/.*)?"
)
_SHUT = re.compile(r"/(?:gradio_api|login|logout|svelte|monitoring|pwa_icon|docs|redoc)(?:/.*)?", re.DOTALL)


class ShutDoors:
    """404 for gradio's addresses that are not used."""

    def __init__(self, app: ASGIApp):
        """Args: app: what is behind."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is open."""
        shut = scope["type"] == "http" and _SHUT.fullmatch(scope["path"]) and not _OPEN.fullmatch(scope["path"])
        answer = PlainTextResponse("Not found", 404, {"cache-control": "no-store"}) if shut else self.app
        await answer(scope, receive, send)
