"""Response for a refused request: a status, and a message in the visitor's language."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import Scope

from vitexplorer.core.text import Text
from vitexplorer.ui.kit.language import language_of


def refusal(scope: Scope, status: int, text: Text) -> JSONResponse:
    """Return the response; gradio's scripts look for the message under `error`."""
    accepted = Headers(scope=scope).get("accept-language", "")
    message = text.in_(language_of(scope["query_string"].decode("latin-1"), accepted))
    return JSONResponse({"error": message}, status, {"cache-control": "no-store"})
