"""404 for gradio's routes that the page does not use.

They write files (deep links), fetch addresses that a visitor names, take recordings, inspect components, or serve
development. The open routes are listed, so that a new version of gradio opens nothing unnoticed.
"""

from __future__ import annotations

import re

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_OPEN = re.compile(
    r"/gradio_api/(?:run|call|queue|upload|cancel|reset|heartbeat|info|openapi\.json|startup-events|mcp"
    r"|file=(?!(?i:https?:))[^/]*|app_id|theme\.css)(?:/.*)?"
)
_CLOSED = re.compile(r"/(?:gradio_api|login|logout|svelte|monitoring|pwa_icon|docs|redoc)(?:/.*)?", re.DOTALL)


class ClosedRoutes:
    """Middleware that answers gradio's unused routes with 404."""

    def __init__(self, app: ASGIApp):
        """Wrap `app`."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 404, or pass on."""
        is_closed = scope["type"] == "http" and _CLOSED.fullmatch(scope["path"]) and not _OPEN.fullmatch(scope["path"])
        answer = PlainTextResponse("Not found", 404, {"cache-control": "no-store"}) if is_closed else self.app
        await answer(scope, receive, send)
