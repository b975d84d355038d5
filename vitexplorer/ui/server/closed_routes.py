"""404 for gradio's routes that the page does not use.

They write files (deep links), fetch addresses that a visitor names, take recordings, inspect components, or serve
development. The open routes are listed, so that a new version of gradio opens nothing unnoticed.
"""

from __future__ import annotations

import re

from starlette.responses import PlainTextResponse
from starlette.types import Scope

from vitexplorer.ui.kit.static_responses import NO_STORE

_OPEN = re.compile(
    r"/gradio_api/(?:run|call|queue|upload|cancel|reset|heartbeat|info|openapi\.json|startup-events|mcp"
    r"|file=(?!(?i:https?:))[^/]*|app_id|theme\.css)(?:/.*)?"
)
_CLOSED = re.compile(r"/(?:gradio_api|login|logout|svelte|monitoring|pwa_icon|docs|redoc)(?:/.*)?", re.DOTALL)


def closed_route(scope: Scope) -> PlainTextResponse | None:
    """Answer 404 for an unused route; None for every other."""
    is_closed = _CLOSED.fullmatch(scope["path"]) and not _OPEN.fullmatch(scope["path"])
    return PlainTextResponse("Not found", 404, NO_STORE) if is_closed else None
